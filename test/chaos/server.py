"""A server of the test, with the faults of faults.cpp, in a directory of its own."""

import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import psycopg

PAGE = 4096
# wal_writer_delay: a commit that does not flush the write-ahead log stays in memory. Small segments and frequent checkpoints: files
# are made and flushed all the time.
SETTINGS = {
    "listen_addresses": "", "port": "5432", "fsync": "on", "jit": "off", "max_connections": "40", "max_worker_processes": "16",
    "wal_level": "replica", "max_wal_senders": "5", "hot_standby": "on", "wal_writer_delay": "10s", "wal_writer_flush_after": "1GB",
    "checkpoint_timeout": "30s", "max_wal_size": "8MB", "min_wal_size": "2MB", "wal_keep_size": "64MB", "wal_sender_timeout": "5s",
    "wal_receiver_timeout": "5s", "wal_receiver_status_interval": "1s", "wal_retrieve_retry_interval": "200ms", "autovacuum_naptime": "5s",
    "logging_collector": "off", "shared_buffers": "16MB"}


class DoesNotStart(Exception):
    pass


class Server:
    def __init__(self, directory, programs, faults):
        self.directory = Path(directory)
        self.data = self.directory / "data"
        self.programs = programs
        self.faults = faults
        self.settings = dict(SETTINGS, unix_socket_directories=str(self.directory))
        self.process = None
        self.log_read = 0
        (self.directory / "unflushed").mkdir(parents=True)
        (self.directory / "rule").write_bytes(bytes(PAGE))
        with open(self.directory / "rule", "r+b") as file:
            self.page = mmap.mmap(file.fileno(), PAGE)

    # How it is made

    def program(self, name, *arguments):
        return subprocess.run([f"{self.programs}/{name}", *arguments], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, "PGHOST": str(self.directory), "PGUSER": "postgres"}).stdout.decode()

    def initialise(self):
        self.program("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8",
                     "--wal-segsize=1", "--data-checksums")
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write("include 'chaos.conf'\n")
        self.configure()

    def copy_from(self, primary):
        """Makes this server a standby, which is not started."""
        primary.program("pg_basebackup", "-D", str(self.data), "-c", "fast", "-X", "stream", "--no-sync")
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        (self.data / "standby.signal").touch()
        self.settings = dict(primary.settings, unix_socket_directories=str(self.directory), synchronous_standby_names="",
                             primary_conninfo=f"host={primary.directory} user=postgres application_name=standby")
        self.configure()

    def configure(self, **settings):
        self.settings.update(settings)
        new = self.data / "chaos.conf.new"
        new.write_text("".join(f"{name} = '{value}'\n" for name, value in self.settings.items()))
        new.rename(self.data / "chaos.conf")
        if self.runs():
            self.process.send_signal(signal.SIGHUP)

    def remove(self):
        self.kill()
        self.page.close()
        shutil.rmtree(self.directory)

    # How it runs

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def connect(self, user="postgres"):
        return psycopg.connect(host=str(self.directory), port=5432, user=user, dbname="postgres", autocommit=True, connect_timeout=5,
                               prepare_threshold=None)

    def launch(self):
        environment = {**os.environ, "LD_PRELOAD": self.faults, "DPQ_FAULTS": str(self.directory)}
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([f"{self.programs}/postgres", "-D", str(self.data)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=environment, start_new_session=True)

    def start(self):
        self.launch()
        self.wait_until_ready()

    def is_ready(self):
        try:
            with self.connect() as connection:
                return connection.execute("SELECT true").fetchone()[0]
        except psycopg.Error:
            return False

    def wait_until_ready(self, seconds=60):
        """Waits through crash recovery. Starts the server again if it ended, as a failing disk makes it do."""
        end = time.monotonic() + seconds
        while not self.is_ready():
            if time.monotonic() > end:
                raise DoesNotStart(f"{self.directory.name} does not accept connections within {seconds} s")
            if not self.runs():
                self.end_children()
                time.sleep(0.2)
                self.launch()
            time.sleep(0.05)

    def processes(self):
        """All processes of the server, also those whose postmaster is dead."""
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                if os.readlink(f"/proc/{name}/cwd") == str(self.data):
                    found.append(int(name))
            except OSError:
                pass
        return found

    def send(self, signal_number, pids):
        for pid in pids:
            try:
                os.kill(pid, signal_number)
            except ProcessLookupError:
                pass

    def wait_for_end(self, pid):
        """Until the postmaster knows that the process has ended. Before that it accepts connections, which it ends soon."""
        end = time.monotonic() + 20
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
            time.sleep(0.01)

    def end_children(self):
        while pids := self.processes():
            self.send(signal.SIGKILL, pids)
            time.sleep(0.01)

    # How it ends

    def kill(self):
        """Ends all processes at once. What was written stays, as the system has it."""
        if self.process is None:
            return
        self.send(signal.SIGCONT, self.processes())
        if self.runs():
            self.process.kill()
        self.end_children()
        self.process.wait()

    def kill_postmaster(self):
        """The others notice it themselves."""
        self.process.kill()
        self.process.wait()
        end = time.monotonic() + 20
        while self.processes() and time.monotonic() < end:
            time.sleep(0.02)
        self.end_children()

    def lose_power(self):
        """Ends all processes, and takes back what was written to the write-ahead log and not flushed. Returns the number of bytes."""
        self.kill()
        lost = 0
        for record in (self.directory / "unflushed").iterdir():
            segment = self.data / "pg_wal" / record.name
            if segment.exists():
                lost += take_back(record.read_bytes(), segment)
            record.unlink()
        return lost

    def stop(self, how=signal.SIGINT):
        """SIGINT: fast, SIGQUIT: immediate"""
        self.process.send_signal(how)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired as error:
            raise DoesNotStart("the server does not stop") from error
        self.end_children()

    # Its faults

    def fail(self, action, error, *fragments):
        rule = " ".join([action, str(error), *fragments]).encode() + b"\0"
        self.page[1:len(rule)] = rule[1:]
        self.page[0] = rule[0]

    def mend(self):
        self.page[0] = 0

    def hits(self):
        return struct.unpack_from("<I", self.page, PAGE - 4)[0]

    def new_log(self):
        """What the server has logged since the last call"""
        with open(self.directory / "log", "rb") as file:
            file.seek(self.log_read)
            text = file.read()
            self.log_read = file.tell()
        return text.decode(errors="replace")


def take_back(records, segment):
    """Undoes writes, the last one first."""
    writes = []
    at = 0
    while at + 16 <= len(records):
        offset, length = struct.unpack_from("<qq", records, at)
        if at + 16 + length > len(records):
            break  # the process was killed before the write
        writes.append((offset, records[at + 16:at + 16 + length]))
        at += 16 + length
    with open(segment, "r+b") as file:
        for offset, old in reversed(writes):
            file.seek(offset)
            file.write(old)
    return sum(len(old) for _, old in writes)


# What no fault of this test may cause
CRASH = re.compile(r"TRAP:|terminated by signal (?:7|8|11)\b|invalid page in block|page verification failed")
