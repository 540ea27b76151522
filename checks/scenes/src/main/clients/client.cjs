// SPDX-License-Identifier: Apache-2.0
// Clients of npm's ws, with permessage-deflate and without: ADDRESS MESSAGES FILLER
const WebSocket = require('ws');

const [address, , filler] = process.argv.slice(2);

function text(number) {
  let letters = '';
  let last = number % 65537;
  for (let i = (number * 7919) % Number(filler); i > 0; i--) {
    last = (last * 75 + 74) % 65537;
    letters += 'abcdefghijklmnopqrstuvwxyz012ä€ß'[last % 32];
  }
  return `{"number": ${number}, "filler": "${letters}"}`;
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
