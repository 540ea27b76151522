// SPDX-License-Identifier: Apache-2.0
// WebSockets of a page in headless Chromium, which offers permessage-deflate always, or its EventSources, if the address
// is one of HTTP: PROGRAM [ADDRESS MESSAGES FILLER]. Without an address it only looks whether the browser starts.
const { chromium } = require('playwright-core');

const [program, address, , filler] = process.argv.slice(2);

// in the page, as those below
function text(number, filler) {
  let letters = '';
  let last = number % 65537;
  for (let i = (number * 7919) % Number(filler); i > 0; i--) {
    last = (last * 75 + 74) % 65537;
    letters += 'abcdefghijklmnopqrstuvwxyz012ä€ß'[last % 32];
  }
  return `{"number": ${number}, "filler": "${letters}"}`;
}

function listen([address, filler]) {
  return new Promise((done) => {
    let messages = 0;
    let wrong = 0;
    const socket = new WebSocket(address);
    socket.onmessage = (event) => {
      wrong += event.data === text(messages, filler) ? 0 : 1;
      messages++;
    };
    socket.onclose = (event) =>
      done(`client=chromium messages=${messages} wrong=${wrong} deflate=${socket.extensions !== ''} code=${event.code}`);
  });
}

// comes back by itself, with the id of the last event, until it is answered 204
function read([address, filler]) {
  return new Promise((done) => {
    let messages = 0;
    let wrong = 0;
    let opened = 0;
    const source = new EventSource(address);
    const got = (event) => {
      const right = event.data === text(messages, filler).replaceAll('0', '\n')
        && event.type === (messages % 2 ? 'odd' : 'message')
        && event.lastEventId === `no. ${messages} ü`;
      wrong += right ? 0 : 1;
      messages++;
    };
    source.onmessage = got;
    source.addEventListener('odd', got);
    source.onopen = () => opened++;
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) {
        done(`client=chromium-events messages=${messages} wrong=${wrong} opened=${opened}`);
      }
    };
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
  await Promise.all(pages.map((page) => page.addScriptTag({ content: String(text) })));
  const what = address.startsWith('ws') ? listen : read;
  const lines = await Promise.all(pages.map((page) => page.evaluate(what, [address, filler])));
  lines.forEach((line) => console.log(line));
  await browser.close();
  process.exit(errors === 0 ? 0 : 1);
})().catch((failure) => { console.error(String(failure)); process.exit(1); });
