"use strict";
// The token comes behind the #, which no browser sends, and is kept for as long as the tab: a reload works.
// Storage is the origin's, port included; a cookie would go to every server of this machine.
(() => {
  const KEY = "streamops-token";
  const ENDS = {
    1000: "The console has ended.",
    1001: "The server was stopped.",
    4401: "Wrong token: open the address that `streamops tui --web` printed.",
    4429: "Too many consoles are open: close another tab, then reload this one.",
  };

  function take() {
    const token = location.hash.slice(1);
    if (token) {
      sessionStorage.setItem(KEY, token);
      history.replaceState(null, "", location.pathname);
    }
    return sessionStorage.getItem(KEY);
  }

  function say(words, seconds) {
    const notice = document.getElementById("notice");
    notice.textContent = words;
    notice.hidden = false;
    if (seconds) setTimeout(() => { notice.hidden = true; }, seconds * 1000);
  }

  // The console cannot know whether the browser copied: the browser has to say so itself.
  function watchCopying() {
    const clipboard = navigator.clipboard;
    if (!clipboard) return;
    const write = clipboard.writeText.bind(clipboard);
    clipboard.writeText = (text) => write(text).catch(() => say("Not copied: this browser does not allow it here.", 4));
  }

  const token = take();
  if (!token) {
    say("No token: open the address that `streamops tui --web` printed, with what stands behind the #.");
    return;
  }
  watchCopying();
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(url) {
      super(url);
      this.addEventListener("open", () => super.send(token));
      this.addEventListener("close", (event) => say(ENDS[event.code] || "The connection is lost: reload to open another console."));
    }

    send(data) {
      if (this.readyState === Native.OPEN) super.send(data);
    }
  };
  document.getElementById("terminal").dataset.sessionWebsocketUrl = `ws://${location.host}/ws`;

  addEventListener("load", async () => {
    // A terminal measures its font once: it must be there by then.
    await document.fonts.load("15px 'Roboto Mono'").catch(() => undefined);
    const script = document.createElement("script");
    script.src = "static/js/textual.js";
    script.addEventListener("load", () => {
      window.onload();
      document.querySelector(".xterm-helper-textarea")?.focus();
    });
    document.body.append(script);
  });
})();
