# SPDX-License-Identifier: Apache-2.0
# Clients of Python's websockets and aiohttp, each with permessage-deflate and without: LIBRARY ADDRESS MESSAGES FILLER
import asyncio
import ssl
import sys

library, address, messages, filler = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
tls = None
if address.startswith("wss"):
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
        self.messages = self.wrong = 0

    def read(self, got):
        self.wrong += got != text(self.messages)
        self.messages += 1


async def websockets_client(compressed, reading):
    import websockets

    options = {"ssl": tls} if tls else {}
    compression = "deflate" if compressed else None
    async with websockets.connect(address, compression=compression, max_size=None, **options) as socket:
        agreed = bool(getattr(socket, "extensions", None) or getattr(socket.protocol, "extensions", None) if hasattr(socket, "protocol") else socket.extensions)
        try:
            while True:
                reading.read(await socket.recv())
        except websockets.exceptions.ConnectionClosed:
            pass
        return agreed


async def aiohttp_client(compressed, reading):
    import aiohttp

    async with aiohttp.ClientSession() as session:
        options = {"ssl": tls} if tls else {}
        async with session.ws_connect(address, compress=15 if compressed else 0, max_msg_size=0, **options) as socket:
            async for message in socket:
                reading.read(message.data)
            return bool(socket.compress)


async def main():
    client = {"websockets": websockets_client, "aiohttp": aiohttp_client}[library]
    readings = [Reading(), Reading()]
    agreed = await asyncio.gather(*(client(compressed, each) for compressed, each in zip((False, True), readings)))
    for compressed, each in zip(agreed, readings):
        print("client=%s messages=%d wrong=%d deflate=%s" % (library, each.messages, each.wrong, compressed))


asyncio.run(main())
