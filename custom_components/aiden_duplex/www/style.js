/** The card's looks; all colours are the theme's. */

export const STYLE = `
:host { display: block; container-type: inline-size; }
[hidden] { display: none !important; }
ha-card { padding: 16px; box-sizing: border-box; overflow-wrap: anywhere; }
.frame { max-width: 1200px; margin: 0 auto; }
h2, h3, p { margin: 0; }
h2 { font-size: 1.25rem; font-weight: 500; line-height: 1.3; }
h3 { font-size: 0.875rem; font-weight: 500; color: var(--secondary-text-color); margin-bottom: 8px; }
header { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; }
header > div { flex: 1 1 180px; }
.quiet { color: var(--secondary-text-color); font-size: 0.875rem; }
.banner { margin-top: 12px; padding: 10px 12px; border-radius: 8px; border-left: 4px solid var(--warning-color);
  background: var(--secondary-background-color); }
.banner.error { border-color: var(--error-color); }
.body { display: grid; gap: 24px 32px; margin-top: 20px; grid-template-columns: minmax(0, 1fr); align-items: start; }
.body > div { display: grid; gap: 24px; grid-template-columns: minmax(0, 1fr); }
@container (min-width: 720px) { .body { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.ask:empty { display: none; }
.goal { font-size: 1.125rem; margin: 6px 0; }
.status { display: inline-flex; align-items: center; gap: 8px; font-weight: 500; }
.status::before { content: ""; width: 10px; height: 10px; border-radius: 50%; flex: none; background: currentColor; }
.status[data-kind="busy"] { color: var(--info-color, var(--primary-color)); }
.status[data-kind="good"] { color: var(--success-color); }
.status[data-kind="ask"], .status[data-kind="doubt"] { color: var(--warning-color); }
.status[data-kind="bad"] { color: var(--error-color); }
.status[data-kind="rest"] { color: var(--secondary-text-color); }
.status > span { color: var(--primary-text-color); }
.status[data-kind="busy"]::before { animation: pulse 1.4s ease-in-out infinite; }
@keyframes pulse { 50% { opacity: 0.25; } }
@media (prefers-reduced-motion: reduce) { .status::before { animation: none !important; } }
.step { color: var(--secondary-text-color); min-height: 1.4em; }
.text { white-space: pre-line; margin-top: 4px; }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 12px; }
button { font: inherit; font-weight: 500; min-height: 40px; padding: 6px 16px; border-radius: 20px; cursor: pointer;
  color: var(--primary-color); background: none; border: 1px solid var(--divider-color); }
button.main { color: var(--text-primary-color); background: var(--primary-color); border-color: var(--primary-color); }
button.stop { color: var(--error-color); border-color: var(--error-color); }
button.small { min-height: 32px; padding: 2px 12px; font-size: 0.875rem; flex: none; }
button:disabled { opacity: 0.5; cursor: default; }
button:focus-visible, input:focus-visible { outline: 2px solid var(--primary-color); outline-offset: 2px; }
input { font: inherit; font-size: 16px; min-width: 0; flex: 1 1 160px; box-sizing: border-box; min-height: 40px;
  padding: 6px 12px; border-radius: 8px; color: var(--primary-text-color); background: var(--card-background-color);
  border: 1px solid var(--secondary-text-color); }
input::placeholder { color: var(--secondary-text-color); }
.ask { display: grid; gap: 12px; }
.question { border: 1px solid var(--warning-color); border-left-width: 4px; border-radius: 8px; padding: 12px; }
.question form { margin-top: 12px; }
.tasks ul { list-style: none; margin: 0; padding: 0; }
.tasks li { display: flex; gap: 12px; align-items: center; padding: 8px 0; border-top: 1px solid var(--divider-color); }
.tasks li > div { flex: 1; min-width: 0; }
.row-goal { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
.row-status { font-size: 0.875rem; font-weight: 400; }
.picture img { display: block; max-width: 100%; max-height: 70vh; border-radius: 8px; }
.log { display: grid; gap: 8px; max-height: 260px; overflow-y: auto; margin-bottom: 12px; }
.log:empty { display: none; }
.log p { justify-self: start; max-width: 85%; padding: 8px 12px; border-radius: 12px; white-space: pre-line;
  background: var(--secondary-background-color); }
.log p.you { justify-self: end; color: var(--text-primary-color); background: var(--primary-color); }
.log p.error { border-left: 4px solid var(--error-color); }
.log b { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
form { display: flex; flex-wrap: wrap; gap: 8px; }
`;
