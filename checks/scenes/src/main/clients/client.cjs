// SPDX-License-Identifier: Apache-2.0
// Clients of npm's ws, with permessage-deflate and without: ADDRESS MESSAGES FILLER
const WebSocket = require('ws');

const [address, , filler] = process.argv.slice(2);

function text(number) {
  return `{"number": ${number}, "filler": "${'abcdä'.repeat((number * 7919) % Number(filler))}"}`;
}

for (const compressed of [false, true]) {
  let messages = 0;
  let wrong = 0;
  const socket = new WebSocket(address, { perMessageDeflate: compressed, rejectUnauthorized: false });
  socket.on('message', (data) => {
    wrong += data.toString() === text(messages) ? 0 : 1;
    messages++;
  });
  let agreed = '';
  socket.on('open', () => (agreed = socket.extensions));
  socket.on('error', (failure) => console.error(String(failure)));
  socket.on('close', () => console.log(`client=ws messages=${messages} wrong=${wrong} deflate=${agreed !== ''}`));
}
