# SPDX-License-Identifier: Apache-2.0
# Readers of server-sent events by Python's aiohttp and urllib, which know nothing of them: lines are read here as in
# WHATWG HTML, 9.2.6. When an answer ends they come back with Last-Event-ID, until they are answered 204:
# LIBRARY ADDRESS MESSAGES FILLER
import asyncio
import ssl
import sys
import urllib.request

library, address, messages, filler = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
tls = None
if address.startswith("https"):
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE


def text(number):
    letters = []
    last = number % 65537
    for _ in range(number * 7919 % filler):
        last = (last * 75 + 74) % 65537
        letters.append("abcdefghijklmnopqrstuvwxyz012ä€ß"[last % 32])
    return '{"number": %d, "filler": "%s"}' % (number, "".join(letters))


class Reading:
    def __init__(self):
        self.messages = self.wrong = self.opened = 0
        self.id = None
        self.pause = 3.0
        self.begin()

    def begin(self):
        self.data, self.name = [], ""

    def headers(self):
        headers = {"Accept": "text/event-stream"}
        if self.id is not None:
            # a header's bytes, as urllib and aiohttp write them
            headers["Last-Event-ID"] = self.id if library == "aiohttp" else self.id.encode().decode("latin-1")
        return headers

    def answered(self, status, kind):
        self.opened += 1
        self.wrong += status != 200 or kind != "text/event-stream"
        self.begin()

    def line(self, line):
        line = line.decode()
        if not line.endswith("\n"):
            self.wrong += 1
        line = line[:-1]
        if not line:
            if self.data:
                self.event("\n".join(self.data), self.name or "message")
            self.begin()
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self.data.append(value)
        elif field == "event":
            self.name = value
        elif field == "id":
            self.id = value
        elif field == "retry":
            self.pause = int(value) / 1000
        elif field:
            self.wrong += 1

    def event(self, data, name):
        wanted = (text(self.messages).replace("0", "\n"), "odd" if self.messages % 2 else "message", "no. %d ü" % self.messages)
        self.wrong += (data, name, self.id) != wanted
        self.messages += 1


async def aiohttp_reader(reading):
    import aiohttp

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        options = {"ssl": tls} if tls else {}
        while True:
            async with session.get(address, headers=reading.headers(), **options) as answer:
                if answer.status == 204:
                    return
                reading.answered(answer.status, answer.headers.get("Content-Type"))
                async for line in answer.content:
                    reading.line(line)
            await asyncio.sleep(reading.pause)


async def urllib_reader(reading):
    def read():
        request = urllib.request.Request(address, headers=reading.headers())
        with urllib.request.urlopen(request, context=tls) as answer:
            if answer.status == 204:
                return False
            reading.answered(answer.status, answer.headers.get("Content-Type"))
            for line in answer:
                reading.line(line)
        return True

    while await asyncio.to_thread(read):
        await asyncio.sleep(reading.pause)


async def main():
    reader = {"aiohttp": aiohttp_reader, "urllib": urllib_reader}[library]
    readings = [Reading(), Reading()]
    await asyncio.gather(*(reader(each) for each in readings))
    for each in readings:
        print("client=%s-events messages=%d wrong=%d opened=%d" % (library, each.messages, each.wrong, each.opened))


asyncio.run(main())
