// Search in a page that is opened as a file: browsers start no worker there, so a hidden frame runs its script.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.document.open();
      this.inside.document.write("<!doctype html><title>search</title><body>");
      this.inside.document.close();
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      const script = this.inside.document.createElement("script");
      this.ready = new Promise((done) => { script.onload = done; });
      script.src = url;
      this.inside.document.body.append(script);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", {data})));
    }
  };
}
