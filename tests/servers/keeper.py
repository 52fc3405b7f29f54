"""Stands between a test run and one server, so that the server never outlives the run, however the run ends.

Called as `keeper.py FOLDER USER ORPHAN_SIGNAL COMMAND...`. A number on stdin is a signal to pass on to the server. The
end of stdin means that the run is gone: the server is stopped and the folder removed.
"""

import os
import shutil
import subprocess
import sys
import threading

orphaned = threading.Event()
removed = threading.Event()


def main() -> None:
    folder, user, orphan_signal, *command = sys.argv[1:]
    # Its own session: Ctrl-C at the terminal reaches the tests, which stop the server when they are done with it.
    server = subprocess.Popen(command, cwd=folder, user=user or None, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=obey, args=(server, folder, int(orphan_signal)), daemon=True).start()
    code = server.wait()
    if orphaned.is_set():
        removed.wait()
    os._exit(code & 0xFF)


def obey(server: subprocess.Popen[bytes], folder: str, orphan_signal: int) -> None:
    # os.read, for a thread that waits in sys.stdin would keep the interpreter from ending.
    while words := os.read(0, 16):
        for number in words.split():
            server.send_signal(int(number))
    orphaned.set()
    server.send_signal(orphan_signal)
    server.wait()
    shutil.rmtree(folder, ignore_errors=True)
    removed.set()


if __name__ == "__main__":
    main()
