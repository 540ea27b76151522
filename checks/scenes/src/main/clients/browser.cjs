// SPDX-License-Identifier: Apache-2.0
// WebSockets of a page in headless Chromium, which offers permessage-deflate always: PROGRAM [ADDRESS MESSAGES FILLER]
// Without an address it only looks whether the browser starts.
const { chromium } = require('playwright-core');

const [program, address, , filler] = process.argv.slice(2);

// in the page
function listen([address, filler]) {
  function text(number) {
    let letters = '';
    let last = number % 65537;
    for (let i = (number * 7919) % Number(filler); i > 0; i--) {
      last = (last * 75 + 74) % 65537;
      letters += 'abcdefghijklmnopqrstuvwxyz012ä€ß'[last % 32];
    }
    return `{"number": ${number}, "filler": "${letters}"}`;
  }

  return new Promise((done) => {
    let messages = 0;
    let wrong = 0;
    const socket = new WebSocket(address);
    socket.onmessage = (event) => {
      wrong += event.data === text(messages) ? 0 : 1;
      messages++;
    };
    socket.onclose = (event) =>
      done(`client=chromium messages=${messages} wrong=${wrong} deflate=${socket.extensions !== ''} code=${event.code}`);
  });
}

(async () => {
  const browser = await chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic', '--ignore-certificate-errors',
      '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const pages = await Promise.all([browser.newPage(), browser.newPage()]);
  if (!address) {
    await browser.close();
    return;
  }
  let errors = 0;
  for (const page of pages) {
    page.on('console', (line) => { if (line.type() === 'error') { errors++; console.error(line.text()); } });
    page.on('pageerror', (failure) => { errors++; console.error(String(failure)); });
  }
  const lines = await Promise.all(pages.map((page) => page.evaluate(listen, [address, filler])));
  lines.forEach((line) => console.log(line));
  await browser.close();
  process.exit(errors === 0 ? 0 : 1);
})().catch((failure) => { console.error(String(failure)); process.exit(1); });
