#!/usr/bin/env python3
# test_killed.py - the whole path goes on while its daemons are killed at
# random, each KILLS times, and started again. Requests, epochs, reveals and
# reviews do not stop meanwhile. At the end:
#
#   - every record that was acknowledged, and every leaf that was seen in the
#     index, stands at its place in the log;
#   - the index is the one that log and vault give;
#   - while the tap lived every request is there once, whole;
#   - every drawn unit has its verdict, and no honest answer mismatches;
#   - each epoch is certified, and its export verifies;
#   - the engine is blamed for nothing, and each break of the tap is told.
#
#   test_killed.py BUILD MODEL KILLS [SEED]
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from held_port import held_port  # noqa: E402

BUILD, MODEL, KILLS = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else time.time_ns() % 1000000
LIFE_S = 0.3  # at most, between two kills of any daemon
WAIT_S = 200  # for what comes at once on a machine that is not busy
END_S = 400  # for what is left when the kills are over
ROOMS = {'store': 'store', 'tap': 'tap', 'sampler': 'sampler',
         'recompute': 'recompute', 'compare': 'recompute'}
POLICY = '''assay-policy/v1
confidence 99%
party auditor
reveal_within 600
answer_within 3600
stratum all any draw all
'''


def die(text):
    sys.exit(f'test_killed: seed={SEED}: {text}')


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(('127.0.0.1', port)) == 0


def await_that(what, seconds, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            die(f'{what} did not come')
        time.sleep(0.05)


class Site:
    """An appliance with its engine, in a directory of its own."""

    def __init__(self, top):
        self.top, self.state = top, f'{top}/state'
        self.conf = f'{top}/assay.conf'
        self.port, self.feed = held_port(), held_port()
        self.daemons, self.lock = {}, threading.Lock()
        self.by_itself = []
        with open(self.conf, 'w', encoding='ascii') as f:
            f.write(f'''origin = "killed.example/unit-1";
store: {{ state_dir = "{self.state}"; run_dir = "{top}/run";
         checkpoint_s = 1; }};
tap: {{ interface = "lo"; interval_s = 1; filter = "tcp port {self.port}";
       feed_listen = "127.0.0.1:{self.feed}"; }};
sampler: {{ close_after_exchanges = 25; feed_required = true;
           feed_settle_ms = 100; poll_ms = 50; }};
recompute: {{ models = [ "{MODEL}" ]; threads = 1; }};
''')

    def program(self, name, *more):
        room = ROOMS.get(name, 'config')
        file = f'assay-{name}' if name in ROOMS else name
        return [f'{BUILD}/{room}/{file}', '-c', self.conf, *more]

    def call(self, name, *more, seconds=300):
        """Exit code and standard output."""
        p = subprocess.run(self.program(name, *more), text=True, check=False,
                           stdout=subprocess.PIPE, timeout=seconds,
                           stderr=open(f'{self.top}/calls.log', 'a'))
        return p.returncode, p.stdout

    def start(self, name):
        more = ['run'] if name == 'sampler' else []
        with open(f'{self.top}/{name}.log', 'a', encoding='ascii') as log:
            self.daemons[name] = subprocess.Popen(
                self.program(name, *more), stdout=log, stderr=log)

    def start_engine(self):
        self.engine = subprocess.Popen(
            [f'{BUILD}/tests/prover/assay-prover', '--model', MODEL, '--name',
             'stories', '--engine', 'demo', '--port', str(self.port),
             '--feed', f'127.0.0.1:{self.feed}'],
            stderr=open(f'{self.top}/engine.log', 'a'))
        await_that('the engine', WAIT_S, lambda: self.get('/health') is not None)

    def get(self, path, body=None):
        try:
            request = urllib.request.Request(
                f'http://127.0.0.1:{self.port}{path}', body,
                {'Content-Type': 'application/json'})
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                return answer.read()
        except OSError:
            return None

    def kill(self, name):
        p = self.daemons[name]
        if p.poll() is not None:
            self.by_itself.append((name, p.returncode, self.last_words(name)))
        p.kill()
        p.wait()
        self.start(name)

    def last_words(self, name):
        with open(f'{self.top}/{name}.log', encoding='ascii') as log:
            return log.read().splitlines()[-3:]

    def stop(self, name):
        p = self.daemons.pop(name)
        p.terminate()
        if p.wait(WAIT_S) != 0:
            die(f'{name} ends with {p.returncode}')

    def rows(self, sql):
        db = sqlite3.connect(f'file:{self.state}/index.db?mode=ro', uri=True,
                             timeout=WAIT_S)
        try:
            return db.execute(sql).fetchall()
        finally:
            db.close()

    def query(self, sql):
        """Rows of the index; none while it is being made."""
        try:
            return self.rows(sql)
        except sqlite3.Error:
            return []

    def number(self, sql):
        rows = self.query(sql)
        return rows[0][0] if rows and rows[0][0] is not None else 0


class Reviewer:
    """Adds reviews over the page's socket and keeps what was acknowledged."""

    def __init__(self, site):
        self.site, self.acked, self.n = site, {}, 0

    def frame(self):
        text = (f'object {self.n:064x}\nactor tester\naction note\n'
                f'disposition -\nbase -\nnote review-{self.n}\n').encode()
        body = (struct.pack('>H', 6) + b'review' +
                struct.pack('>I', len(text)) + text + b'\0')
        return struct.pack('>IBQ', 9 + len(body), 1, self.n) + body

    def add(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10)
            s.connect(f'{self.site.top}/run/web.sock')
            s.sendall(self.frame())
            answer = b''
            while len(answer) < 53:
                piece = s.recv(4096)
                if not piece:
                    return
                answer += piece
        if answer[4] != 129:
            die(f'a review was refused: {answer!r}')
        seq, = struct.unpack('>Q', answer[13:21])
        self.acked[seq] = answer[21:53], f'review-{self.n}'

    def turn(self):
        self.n += 1
        try:
            self.add()
        except OSError:
            time.sleep(0.02)  # the store is being killed


class Auditor:
    """Gives its reveals as epochs wait for them."""

    def __init__(self, site):
        self.site, self.given, self.secret = site, 0, None
        self.chain = f'{site.top}/chain'

    def tool(self, *words):
        return subprocess.check_output(
            [f'{BUILD}/sampler/assay-sampler', 'chain', *words],
            text=True).split()[-1]

    def enrol(self):
        head = self.tool('new', '--length', '1000', self.chain)
        if self.site.call('sampler', 'enrol', 'auditor', head)[0] != 0:
            die('the auditor cannot be enrolled')

    def turn(self):
        reveals = self.site.number('SELECT count(*) FROM reveal')
        closes = self.site.number('SELECT count(*) FROM frame_close')
        if reveals > self.given:
            self.given, self.secret = reveals, None
        if closes > self.given:
            if self.secret is None:
                self.secret = self.tool('next', self.chain)
            self.site.call('assay', 'epoch', 'reveal', 'auditor', self.secret)
        time.sleep(0.1)


class Witness:
    """Keeps what readers of the index saw: nothing of it may change."""

    KINDS = ('exchange', 'frame_close', 'seed', 'draw', 'verdict', 'result')

    def __init__(self, site):
        self.site, self.seen, self.roots = site, {}, {}

    def turn(self):
        kind = random.choice(self.KINDS)
        for seq, unit in self.site.query(
                f'SELECT seq, unit FROM {kind} ORDER BY seq DESC LIMIT 50'):
            if self.seen.setdefault(seq, (kind, unit)) != (kind, unit):
                die(f'leaf {seq} was {self.seen[seq][0]}, is {kind}')
        self.roots.update(self.site.query('SELECT size, root FROM checkpoint'))
        time.sleep(0.02)


class Client:
    """Sends requests, one after the other."""

    def __init__(self, site, number):
        self.site, self.n, self.answered = site, number * 100000, 0

    def turn(self):
        self.n += 1
        body = {'model': 'stories', 'prompt': f'Once there was {self.n}',
                'max_tokens': 8 + self.n % 9, 'seed': self.n, 'logprobs': 1,
                'temperature': (0, 0.9)[self.n % 2],
                'stream': self.n % 3 == 0}
        answer = self.site.get('/v1/completions', json.dumps(body).encode())
        if answer is None:
            die('the engine does not answer')
        self.answered += 1
        time.sleep(0.25)


def press(site, names, workers):
    """Kills each of the daemons KILLS times while the workers go on."""
    stop = threading.Event()
    failed = []

    def go_on(worker):
        try:
            while not stop.is_set():
                worker.turn()
        except BaseException as e:  # said by the main thread
            failed.append(e)

    threads = [threading.Thread(target=go_on, args=(w,)) for w in workers]
    for t in threads:
        t.start()
    order = names * KILLS
    random.shuffle(order)
    for name in order:
        time.sleep(random.random() * LIFE_S)
        site.kill(name)
        if failed:
            break
    time.sleep(1)
    stop.set()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]


def finish(site, auditor):
    """Closes what is open, until every epoch is certified."""
    end = time.monotonic() + END_S
    await_that('the store', WAIT_S, lambda: site.call('assay', 'check')[0] == 0)
    if site.call('assay', 'epoch', 'close')[0] not in (0, 75):
        die('the last epoch cannot be closed')
    while (site.number('SELECT count(*) FROM certificate') <
           site.number('SELECT count(*) FROM frame_close')):
        if time.monotonic() > end:
            die('an epoch was not certified: ' +
                site.call('assay', 'epoch', 'list')[1])
        auditor.turn()


def check_verdicts(site):
    rows = site.query(
        'SELECT d.object, x.complete, count(v.seq), min(v.verdict), '
        'max(v.verdict), max(v.reason) FROM draw_drawn d JOIN exchange x ON '
        'x.unit = d.object LEFT JOIN verdict v ON v.object = d.object '
        'GROUP BY d.object')
    for unit, complete, n, least, most, reason in rows:
        if n == 0:
            die(f'no verdict for {unit.hex()}')
        if least != most or (complete and most != 'MATCH') or (
                not complete and most != 'UNCHECKABLE'):
            die(f'{unit.hex()} complete={complete}: {least} {most} {reason}')
    if len(rows) != site.number('SELECT count(*) FROM exchange'):
        die('not every exchange was drawn')
    return len(rows)


def check_findings(site):
    """What passed while the tap was dead is nobody's fault."""
    rows = site.query("SELECT request, epoch FROM finding WHERE "
                      "class = 'orphan_metadata'")
    if rows:
        die(f'an honest engine is blamed: {rows}')
    down = site.number("SELECT count(DISTINCT object) FROM finding WHERE "
                       "class = 'tap_down'")
    # One that was killed before it had begun makes the break before longer.
    if not 0 < down <= KILLS:
        die(f'{down} breaks of the tap are told')


def check_log(site, reviewer, witness):
    for seq, (unit, note) in reviewer.acked.items():
        if site.query('SELECT unit, note FROM review WHERE seq = '
                      f'{seq}') != [(unit, note)]:
            die(f'acknowledged review {note} is not leaf {seq}')
    for seq, (kind, unit) in witness.seen.items():
        if site.query(f'SELECT unit FROM {kind} WHERE seq = '
                      f'{seq}') != [(unit,)]:
            die(f'leaf {seq} of kind {kind} is gone')
    roots = dict(site.query('SELECT size, root FROM checkpoint'))
    if any(roots.get(size) != root for size, root in witness.roots.items()):
        die('a signed checkpoint is gone')


def tables(site):
    names = [n for n, in site.rows('SELECT name FROM sqlite_schema WHERE '
                                   "type = 'table'")]
    return {n: site.rows(f'SELECT * FROM "{n}" ORDER BY 1, 2') for n in names}


def check_rebuild(site):
    before = tables(site)
    if site.call('assay', 'rebuild')[0] != 0:
        die('the index cannot be made again')
    after = tables(site)
    if not before.get('exchange'):
        die('the index was not read')
    for name in before.keys() | after.keys():
        if before.get(name) != after.get(name):
            was, is_ = set(before.get(name, [])), set(after.get(name, []))
            die(f'the index is not the one the log gives: {name}: '
                f'gone {sorted(was - is_)[:3]}, new {sorted(is_ - was)[:3]}')


def check_exports(site):
    key = site.query('SELECT log_vkey FROM genesis')[0][0]
    epochs = site.query('SELECT epoch FROM frame_close')
    for epoch, in epochs:
        out = f'{site.top}/export-{epoch}'
        if site.call('assay', 'export', str(epoch), out)[0] != 0:
            die(f'epoch {epoch} cannot be exported')
        code, text = site.call('assay', 'verify', out, '--key', key)
        if code != 0:
            die(f'epoch {epoch} does not verify:\n{text}')
    return len(epochs)


def begin(site):
    site.start('store')
    await_that('the store', WAIT_S,
               lambda: os.path.exists(f'{site.top}/run/web.sock'))
    if site.call('assay', 'model', 'register', 'stories', MODEL)[0] != 0:
        die('the model cannot be registered')
    auditor = Auditor(site)
    auditor.enrol()
    with open(f'{site.top}/policy', 'w', encoding='ascii') as f:
        f.write(POLICY)
    if site.call('sampler', 'policy', f'{site.top}/policy')[0] != 0:
        die('the policy is not taken')
    site.start_engine()
    for name in ('recompute', 'compare', 'sampler', 'tap'):
        site.start(name)
    await_that('the tap', WAIT_S, lambda: listens(site.feed))
    return auditor


def run(site):
    auditor = begin(site)
    reviewer, witness = Reviewer(site), Witness(site)
    clients = [Client(site, i) for i in range(3)]
    workers = [auditor, reviewer, witness, *clients]
    press(site, ['store', 'sampler', 'recompute', 'compare'], workers)
    sent = sum(c.answered for c in clients)
    count = 'SELECT count(*) FROM exchange WHERE complete = 1'
    await_that(f'the record of each of {sent} requests', WAIT_S,
               lambda: site.number(count) >= sent)
    if site.number('SELECT count(*) FROM exchange') != sent:
        die('an exchange was recorded twice, or in part')
    press(site, ['tap'], workers)
    finish(site, auditor)
    drawn = check_verdicts(site)
    check_findings(site)
    for name in ('tap', 'sampler', 'recompute', 'compare', 'store'):
        site.stop(name)
    check_rebuild(site)
    check_log(site, reviewer, witness)
    epochs = check_exports(site)
    if site.by_itself:
        die(f'ended unkilled: {site.by_itself}')
    if not reviewer.acked or drawn < sent:
        die('too little was done between the kills')
    print(f'seed={SEED} kills={KILLS} of each, requests={drawn} '
          f'epochs={epochs} reviews={len(reviewer.acked)} '
          f'leaves_seen={len(witness.seen)}')


def main():
    if os.geteuid() != 0:
        die('capturing needs root')
    random.seed(SEED)
    top = tempfile.mkdtemp(prefix='assay-killed-')
    site = Site(top)
    site.engine = None
    try:
        run(site)
    except BaseException:
        for name in ('calls', *ROOMS):
            path = f'{top}/{name}.log'
            if os.path.exists(path):
                subprocess.run(['tail', '-n', '6', path], check=False)
        if os.environ.get('KEEP'):
            print(f'kept: {top}', file=sys.stderr)
        raise
    finally:
        for p in [*site.daemons.values(), site.engine]:
            if p is not None:
                p.send_signal(signal.SIGKILL)
                p.wait()
        if not os.environ.get('KEEP'):
            shutil.rmtree(top)


main()
