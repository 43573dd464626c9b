"""How the page of a run looks, in light and in dark."""

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark;
  --paper: #f6f7f9; --card: #ffffff; --ink: #1c2230; --soft: #667085; --line: #e2e6ed;
  --shade: #f1f3f7; --model: #5b63d3; --tool: #14907d; --wait: #a6adbb; --bad: #cf3f4f;
  --lost: #d98a1f; --good: #1f8a4c; --user: #eef1ff; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #12151c; --card: #1a1f29; --ink: #e4e8f0; --soft: #929cae; --line: #2b3240;
  --shade: #222835; --model: #8d94f5; --tool: #3cc2ab; --wait: #5b6576; --bad: #f0707e;
  --lost: #f0b052; --good: #4fc981; --user: #23293d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 5rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.25rem 0 .75rem; }
h3 { font-size: .95rem; margin: 0; }
a { color: inherit; text-decoration: none; }
code, pre { font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 28rem;
  overflow: auto; }
.head { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; }
.pill { padding: .1rem .6rem; border-radius: 1rem; font-size: .8rem; font-weight: 600;
  color: var(--card); background: var(--soft); }
.pill.completed { background: var(--good); } .pill.failed { background: var(--bad); }
.pill.blocked, .pill.stopped { background: var(--lost); }
.pill.running { background: var(--model); }
.soft { color: var(--soft); }
.small { font-size: .82rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem;
  margin: 1.25rem 0 0; }
.figures div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .55rem .8rem; }
.figures b { display: block; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.figures span { color: var(--soft); font-size: .78rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .7rem;
  margin: 0 0 1rem; overflow: hidden; scroll-margin-top: 1rem; }
.card:target { border-color: var(--model); }
.card > header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline;
  padding: .6rem .9rem; border-bottom: 1px solid var(--line); }
.card > header .soft { font-size: .82rem; font-variant-numeric: tabular-nums; }
.waterfall { padding: .6rem .9rem .9rem; }
.axis, .row { display: grid; grid-template-columns: minmax(9rem, 15rem) 1fr 4.5rem; gap: .75rem;
  align-items: center; }
.axis { color: var(--soft); font-size: .75rem; height: 1.4rem; }
.axis .track { border-bottom: 1px solid var(--line); height: 1.3rem; }
.axis i { position: absolute; font-style: normal; transform: translateX(-50%);
  white-space: nowrap; }
.axis i.from { transform: none; } .axis i.to { transform: translateX(-100%); }
.row { min-height: 1.55rem; font-size: .82rem; border-radius: .3rem; }
.row:hover { background: var(--shade); }
.row.new { border-top: 1px solid var(--line); }
.label { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.label .soft { display: inline-block; min-width: 1.6rem; font-variant-numeric: tabular-nums; }
.label.inner { padding-left: 2.6rem; }
.time { text-align: right; color: var(--soft); font-variant-numeric: tabular-nums; }
.track { position: relative; height: 1.1rem; }
.gap { position: absolute; top: -.25rem; bottom: -.25rem; background: repeating-linear-gradient(
  135deg, transparent 0 4px, var(--line) 4px 5px); }
.bar { position: absolute; top: .15rem; bottom: .15rem; min-width: 3px; border-radius: 3px;
  background: var(--tool); }
.bar.model { background: var(--model); } .bar.wait { background: var(--wait); opacity: .7; }
.bar.failed { background: var(--bad); }
.bar.lost { background: repeating-linear-gradient(135deg, var(--lost) 0 5px, transparent 5px 8px);
  border: 1px solid var(--lost); }
.key { display: flex; flex-wrap: wrap; gap: 1rem; font-size: .78rem; color: var(--soft);
  padding: .2rem .9rem .8rem; }
.key span::before { content: ""; display: inline-block; width: .8rem; height: .6rem;
  border-radius: 2px; margin-right: .35rem; background: var(--swatch); }
.says { padding: .65rem .9rem; border-bottom: 1px solid var(--line); }
.says:last-child { border-bottom: 0; }
.says > .who { color: var(--soft); font-size: .75rem; font-weight: 600; text-transform: uppercase;
  letter-spacing: .04em; margin-bottom: .15rem; }
.says.user { background: var(--user); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow: auto; }
.reasoning { font-style: italic; color: var(--soft); }
.call { border-left: 3px solid var(--tool); padding: .1rem 0 .1rem .7rem; }
.call.failed { border-color: var(--bad); } .call.lost { border-color: var(--lost); }
.call .name { font-weight: 600; }
.call pre { background: var(--shade); border-radius: .4rem; padding: .35rem .6rem;
  margin-top: .3rem; }
details { border-top: 1px solid var(--line); }
summary { cursor: pointer; padding: .5rem .9rem; color: var(--soft); font-size: .82rem; }
summary:hover { color: var(--ink); }
table { width: 100%; border-collapse: collapse; font-size: .8rem; table-layout: fixed; }
td, th { text-align: left; vertical-align: top; padding: .25rem .9rem; border-top: 1px solid
  var(--line); overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; }
td:first-child, th:first-child { width: 32%; }
td.was { color: var(--soft); } td code { font-size: 11.5px; }
@media (max-width: 40rem) { .axis, .row { grid-template-columns: 7rem 1fr 3.8rem; gap: .4rem; }
  .axis i:not(.from, .to) { display: none; } }
"""
