/** The subscription to one phone, through lost connections and restarts. */

const FIRST_RETRY_MS = 2000;
const LAST_RETRY_MS = 30000;

export class Feed {
  /** `show(shown, error)`: everything that is known, or null and why not. */
  constructor(connection, entityId, show) {
    this._connection = connection;
    this._message = { type: "aiden_duplex/subscribe", entity_id: entityId };
    this._show = show;
    this._turn = 0;
    this._onReady = () => this._restart();
    this._onDisconnected = () => this._lost();
  }

  open() {
    this._connection.addEventListener("ready", this._onReady);
    this._connection.addEventListener("disconnected", this._onDisconnected);
    this._restart();
  }

  close() {
    this._connection.removeEventListener("ready", this._onReady);
    this._connection.removeEventListener("disconnected", this._onDisconnected);
    this._end();
  }

  _restart() {
    this._retryMs = FIRST_RETRY_MS;
    this._subscribe();
  }

  /** Let nothing of the last try count any more. */
  _end() {
    this._turn += 1;
    clearTimeout(this._timer);
    this._unsubscribe?.().catch(() => {});
    this._unsubscribe = null;
  }

  _lost() {
    // The next connection counts from one again: this number would end a stranger's subscription.
    this._unsubscribe = null;
    this._end();
    this._show(null, "disconnected");
  }

  async _subscribe() {
    this._end();
    const turn = this._turn;
    this._shown = {};
    const take = (event) => turn === this._turn && this._take(event);
    try {
      // Home Assistant's own resubscribing gives up when the integration starts late.
      const unsubscribe = await this._connection.subscribeMessage(take, this._message, {
        resubscribe: false,
      });
      if (turn === this._turn) this._unsubscribe = unsubscribe;
      else if (this._connection.connected) unsubscribe().catch(() => {});
    } catch (err) {
      if (turn !== this._turn) return;
      this._show(null, err?.code ?? "unknown");
      this._retry();
    }
  }

  _take(event) {
    this._retryMs = FIRST_RETRY_MS;
    this._shown = { ...this._shown, ...event };
    this._show(this._shown, null);
    if (event.removed) this._retry();
  }

  _retry() {
    this._timer = setTimeout(() => this._subscribe(), this._retryMs);
    this._retryMs = Math.min(this._retryMs * 2, LAST_RETRY_MS);
  }
}
