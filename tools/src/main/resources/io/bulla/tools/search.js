// SPDX-License-Identifier: Apache-2.0
// Searches the sections of all pages, which search-index.js brings; every word typed has to be in the section.
(() => {
  const field = document.getElementById("search");
  const found = document.getElementById("found");
  const root = document.body.dataset.root;
  const most = 12;

  const sections = (window.BULLA_SECTIONS || []).map(([page, heading, address, text]) =>
      ({ page, heading, address, text, title: heading.toLowerCase(), low: `${page} ${heading} ${text}`.toLowerCase() }));

  const weight = (section, words) =>
      words.reduce((sum, word) => sum + (section.title.includes(word) ? 20 : 0)
          + Math.min(10, section.low.split(word).length - 1), 0);

  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
    return (at > 0 ? "… " : "") + text.slice(at, at + 120) + (text.length > at + 120 ? " …" : "");
  };

  const line = (section, words) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = root + section.address;
    link.textContent = section.page === section.heading ? section.page : `${section.page}: ${section.heading}`;
    const text = document.createElement("small");
    text.textContent = excerpt(section.text, words[0]);
    item.append(link, text);
    return item;
  };

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
    const hits = words.length === 0 ? [] : sections
        .filter(section => words.every(word => section.low.includes(word)))
        .map(section => [weight(section, words), section])
        .sort((a, b) => b[0] - a[0])
        .slice(0, most)
        .map(([, section]) => line(section, words));
    if (words.length > 0 && hits.length === 0) {
      const none = document.createElement("li");
      none.textContent = "No section has all these words.";
      hits.push(none);
    }
    found.replaceChildren(...hits);
  };

  field.addEventListener("input", show);
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape") {
      field.value = "";
      show();
    }
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    field.value = asked;
  }
  show();
  if (window.hljs) {
    hljs.configure({ cssSelector: "pre code[class*=language-]" });
    hljs.highlightAll();
  }
})();
