#!/bin/sh
# page.sh - scdoc source on standard input, man page on standard output,
# without the empty paragraphs that scdoc leaves around headings and lists.
scdoc | awk '
/^\.(PP|P)$/ { held = 1; next }
held && !/^\.(SH|SS|RS|RE|TH)/ && last !~ /^\.(SH|SS|RS)/ { print ".PP" }
{ held = 0; print; last = $0 }'
