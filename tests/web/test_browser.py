#!/usr/bin/python3
"""The page in a real browser: headless Chromium over lighttpd.

usage: test_browser.py MAKE_WORLD ASSAY_CGI STATIC_DIR DEMO_CONF_IN OUT_DIR

Walks from the overview to a mismatch as a reader would, in light and dark,
and asserts what stands there; the console stays empty; axe-core (from PyPI,
kept under $ASSAY_CACHE) finds no violation; xmllint finds no broken markup.
Screenshots are left in OUT_DIR.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..'))
from held_port import held_port  # noqa: E402

CACHE = os.environ.get('ASSAY_CACHE', os.path.expanduser('~/.cache/assay'))
AXE = 'axe-core-python==0.1.0'
FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic',
         '--no-first-run', '--disable-background-networking',
         '--disable-component-update', '--disable-sync',
         '--hide-scrollbars', '--window-size=1280,1000']


def axe_source():
    """The text of axe.min.js; installs the package once."""
    venv = os.path.join(CACHE, 'venv-axe')
    found = glob.glob(venv + '/lib/*/site-packages/axe_core_python/axe.min.js')
    if not found:
        subprocess.run([sys.executable, '-m', 'venv', '--clear', venv],
                       check=True)
        subprocess.run([venv + '/bin/pip', '-q', 'install', AXE], check=True)
        found = glob.glob(
            venv + '/lib/*/site-packages/axe_core_python/axe.min.js')
    with open(found[0], encoding='utf-8') as f:
        return f.read()


class Server:
    """lighttpd with the demo's snippet over a made-up index."""

    def __init__(self, make_world, cgi, static, template):
        self.dir = tempfile.mkdtemp(prefix='assay-browser-')
        state = self.dir + '/state'
        os.mkdir(state)
        out = subprocess.run([make_world, state], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        self.units = dict(line.split() for line in out.splitlines())
        with open(self.dir + '/web.key', 'wb') as f:
            f.write(os.urandom(32))
        with open(self.dir + '/assay.conf', 'w') as f:
            f.write(f'store = {{ state_dir = "{state}"; '
                    f'run_dir = "{self.dir}"; }};\n'
                    f'web = {{ actor = "demo"; reveal = true; '
                    f'key_file = "{self.dir}/web.key"; }};\n')
        port = held_port()
        with open(template) as f:
            conf = f.read()
        for name, value in {'PORT': port, 'DIR': self.dir, 'CGI': cgi,
                            'STATIC': static,
                            'CONF': self.dir + '/assay.conf'}.items():
            conf = conf.replace(f'@{name}@', str(value))
        with open(self.dir + '/lighttpd.conf', 'w') as f:
            f.write(conf)
        lighttpd = shutil.which('lighttpd') or '/usr/sbin/lighttpd'
        self.process = subprocess.Popen(
            [lighttpd, '-D', '-f', self.dir + '/lighttpd.conf'])
        self.origin = f'http://127.0.0.1:{port}'
        self.url = self.origin + '/assay'
        for _ in range(1200):
            try:
                urllib.request.urlopen(self.url + '/help').read()
                return
            except OSError:
                time.sleep(0.1)
        # Left running, it would hold our output open until the time limit.
        self.process.kill()
        self.process.wait()
        raise SystemExit('the page did not come up')

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.dir)


def start_browser(profile):
    options = Options()
    options.binary_location = '/usr/bin/chromium'
    for flag in FLAGS + ['--user-data-dir=' + profile]:
        options.add_argument(flag)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    browser = webdriver.Chrome(service=Service('/usr/bin/chromedriver'),
                               options=options)
    browser.set_script_timeout(60)
    return browser


class Walk:
    def __init__(self, browser, server, axe, out):
        self.browser, self.server, self.axe, self.out = (
            browser, server, axe, out)

    def scheme(self, name):
        self.browser.execute_cdp_cmd(
            'Emulation.setEmulatedMedia',
            {'features': [{'name': 'prefers-color-scheme', 'value': name}]})

    def open(self, path):
        self.browser.get(self.server.url + path)

    def text(self):
        return self.browser.find_element(By.TAG_NAME, 'body').text

    def see(self, *texts):
        page = self.text().replace('\u00a0', ' ')
        for text in texts:
            assert text in page, f'{text!r} is not on the page:\n{page}'

    def wait(self, holds):
        """A click may return before its page has come."""
        WebDriverWait(self.browser, 120).until(lambda _: holds())

    def rows(self):
        return [row.text for row in self.browser.find_elements(
            By.CSS_SELECTOR, 'main tbody tr')]

    def follow(self, link):
        """Clicks a link of the page and waits until its page is there."""
        old = self.browser.find_element(By.TAG_NAME, 'html')
        self.browser.find_element(*link).click()
        self.wait(lambda: self.browser.find_element(By.TAG_NAME,
                                                    'html') != old)
        self.wait(lambda: self.browser.execute_script(
            'return document.readyState') == 'complete')

    def check(self):
        """Console, title, accessibility, and no scrolling sideways."""
        log = self.browser.get_log('browser')
        assert log == [], log
        assert self.browser.title.endswith('assay'), self.browser.title
        wide = self.browser.execute_script(
            'return document.documentElement.scrollWidth - innerWidth')
        assert wide <= 0, f'{self.browser.current_url} is {wide} px too wide'
        self.browser.execute_script(self.axe)
        found = self.browser.execute_async_script(
            'const done = arguments[0];'
            'axe.run().then(r => done(r.violations), e => done([String(e)]))')
        assert found == [], found

    def shot(self, name):
        height = self.browser.execute_script(
            'return document.documentElement.scrollHeight')
        self.browser.set_window_size(1280, min(max(height + 140, 800), 4000))
        self.browser.save_screenshot(f'{self.out}/{name}.png')
        self.browser.set_window_size(1280, 1000)


def overview(walk, scheme):
    walk.open('/')
    walk.see('Epoch 26',
             'were drawn after the record was sealed: ',
             'would fail the same check', 'By stratum', 'gpt-oss-20b',
             '4 mismatches')
    chart = walk.browser.find_element(By.CSS_SELECTOR, 'svg.chart')
    assert len(chart.find_elements(By.CSS_SELECTOR, 'rect.seen')) == 24
    paper = walk.browser.execute_script(
        'return getComputedStyle(document.documentElement).backgroundColor')
    light = sum(map(int, re.findall(r'\d+', paper)[:3])) > 3 * 128
    assert light == (scheme == 'light'), paper
    walk.check()
    walk.shot('overview-' + scheme)


def lists(walk, scheme):
    browser = walk.browser
    walk.follow((By.LINK_TEXT, 'Exchanges'))
    first = walk.rows()
    assert len(first) == 50
    walk.see("<script>document.title='broken'</script>")
    walk.check()
    walk.shot('exchanges-' + scheme)
    walk.follow((By.LINK_TEXT, 'Next page'))
    second = walk.rows()
    assert len(second) == 50 and not set(first) & set(second)
    walk.follow((By.LINK_TEXT, 'Next page'))
    assert len(walk.rows()) == 4
    assert not browser.find_elements(By.LINK_TEXT, 'Next page')
    walk.follow((By.LINK_TEXT, 'First page'))
    assert walk.rows() == first
    Select(browser.find_element(By.NAME, 'result')).select_by_value('MISMATCH')
    browser.find_element(By.NAME, 'model').send_keys('llama')
    walk.follow((By.XPATH, '//button[text()="Filter"]'))
    assert len(walk.rows()) == 3, walk.rows()
    kept = Select(browser.find_element(By.NAME, 'result'))
    assert kept.first_selected_option.text == 'MISMATCH'
    walk.check()


def mismatch(walk, scheme):
    unit = walk.server.units['token']
    walk.follow((By.LINK_TEXT, 'Mismatches'))
    walk.see('MISMATCH token', 'UNCHECKABLE', 'step 5')
    walk.check()
    walk.shot('mismatches-' + scheme)
    walk.follow((By.CSS_SELECTOR, f'a[href$="/m/{unit}"]'))
    walk.see('Did not reproduce at step 5 of 22: recorded “␣cat”, '
             'recomputed “␣car”.', '-0x1.0a41d2p+0 bf8520e9',
             'Forward pass 105 of engine e0',
             'Signature checked with the log\'s key: it holds.',
             'assay replay ', 'Record decision')
    walk.check()
    walk.shot('mismatch-' + scheme)


def other_pages(walk, scheme):
    for path, name in {'/findings': 'findings', '/coverage': 'coverage',
                       '/epochs': 'epochs', '/epochs/1': 'epoch',
                       '/log': 'log', '/trail': 'trail', '/help': 'help',
                       '/losses': 'losses', '/unparsed': 'unparsed',
                       '/m/' + walk.server.units['match']: 'match'}.items():
        walk.open(path)
        walk.check()
        walk.shot(f'{name}-{scheme}')


def forms(walk):
    """A store is not running here: what is refused keeps what was written."""
    browser = walk.browser
    walk.open('/m/' + walk.server.units['logprob'])
    browser.find_element(By.ID, 'note').send_keys('seen before')
    walk.follow((By.CSS_SELECTOR, 'button[value=decide]'))
    walk.see('A decision needs a disposition.')
    note = browser.find_element(By.ID, 'note').get_attribute('value')
    assert note == 'seen before', note
    browser.get_log('browser')  # Chromium reports the status 422 itself
    walk.check()


def keyboard(walk):
    walk.open('/')
    walk.browser.find_element(By.TAG_NAME, 'body').send_keys(Keys.TAB)
    focus = walk.browser.switch_to.active_element
    assert focus.text == 'Skip to content', focus.text


def narrow(walk):
    """1280 pixels at 200 %."""
    walk.browser.set_window_size(640, 1000)
    for path in ['/', '/exchanges', '/m/' + walk.server.units['token']]:
        walk.open(path)
        walk.check()
    walk.browser.set_window_size(1280, 1000)


def markup(server):
    """xmllint knows HTML 4: an element it does not know is no fault."""
    for path in ['/', '/mismatches', '/exchanges', '/findings', '/coverage',
                 '/epochs', '/epochs/1', '/log', '/trail', '/help',
                 '/m/' + server.units['token']]:
        page = urllib.request.urlopen(server.url + path).read()
        out = subprocess.run(['xmllint', '--html', '--noout', '-'], input=page,
                             stderr=subprocess.PIPE).stderr.decode()
        faults = [line for line in out.splitlines()
                  if ' error : ' in line
                  and not re.search(r'Tag \w+ invalid', line)]
        assert not faults, (path, faults)


def main():
    make_world, cgi, static, template, out = map(os.path.abspath, sys.argv[1:])
    os.makedirs(out, exist_ok=True)
    axe = axe_source()
    server = Server(make_world, cgi, static, template)
    profile = tempfile.mkdtemp(prefix='assay-chromium-')
    browser = None
    try:
        markup(server)
        browser = start_browser(profile)
        walk = Walk(browser, server, axe, out)
        for scheme in ['light', 'dark']:
            walk.scheme(scheme)
            overview(walk, scheme)
            lists(walk, scheme)
            mismatch(walk, scheme)
            other_pages(walk, scheme)
        forms(walk)
        keyboard(walk)
        narrow(walk)
    finally:
        if browser is not None:
            browser.quit()
        server.close()
        shutil.rmtree(profile, ignore_errors=True)
    print('screenshots in', out)


if __name__ == '__main__':
    main()
