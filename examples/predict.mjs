// Predictions of an additive model of two classes: node predict.mjs MODEL.json < rows.json > predictions.json
// Rows are a JSON list of objects; a missing value is null or left out. docs/model_format.md describes the format.
import {readFileSync} from "node:fs";

const bits = (x) => new BigInt64Array(new Float64Array([x]).buffer)[0];
const rounded = (x) => Number(x.toPrecision(15));
const plain = (value) => {  // a number, also one that a text spells
  if (typeof value !== "string") return typeof value === "number" || typeof value === "boolean" ? Number(value) : NaN;
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : NaN;
};
const spells = (truth) => truth ? /^(true|t|yes|y|1(\.0*)?)$/i : /^(false|f|no|n|0(\.0*)?)$/i;

const ratio = (one, other) => Number((BigInt(one) << 160n) / other) / 2 ** 160;  // rounded once

function number(value, dates) {
  if (!dates) return plain(value);
  const text = String(value).trim().slice(0, 10), date = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(+date) || date.toISOString().slice(0, 10) !== text) return NaN;
  const [year, month] = text.split("-").map(Number);
  if (dates === "year") return year + 0.5;
  if (dates === "month") return 1970 + ((year - 1970) * 12 + month - 1 + 0.5) / 12;
  return (date.getUTCDay() + 6) % 7 + 0.5;
}

function grid(encoder, value) {
  const {lower, upper, cells, spacing} = encoder;
  const x = value === null ? NaN : number(value, encoder.dates);
  if (!Number.isFinite(x)) return cells;
  if (Array.isArray(spacing)) return spacing.filter((cut) => cut <= x).length;
  const parts = cells === 65535 ? 65536 : cells;
  const place = spacing === "linear"
    ? (x - lower) * (parts / (upper - lower))
    : x <= lower ? 0 : Number(bits(x) - bits(lower)) * ratio(parts, bits(upper) - bits(lower));
  return Math.min(Math.floor(Math.max(0, place)), cells - 1);
}

function category({categories, exact}, value) {
  const text = String(value ?? "").trim(), kinds = categories.map((one) => typeof one);
  if (text === "" || Number.isNaN(value)) return categories.length + 1;
  const means = (one, other) => {  // as the same number, truth value or text
    if (/^(true|false)$/i.test(String(one).trim())) return String(one).trim().toLowerCase() === String(other).trim().toLowerCase();
    return Number.isNaN(plain(one)) ? String(one).trim() === String(other).trim() : rounded(plain(one)) === rounded(plain(other));
  };
  const same = (one, k) => exact && typeof value === "string" && kinds[k] === "string" ? one.trim() === text : means(one, value);
  const place = categories.findIndex(same), truth = /^(true|false)$/i.test(text);
  if (place >= 0 || !(truth || [0, 1].includes(plain(value)))) return place < 0 ? categories.length : place;
  const other = truth ? Number(/^true$/i.test(text)) : plain(value) === 1;  // 1 stands for true, and true for 1
  const again = categories.findIndex((one) => means(one, other));
  return again < 0 ? categories.length : again;
}

function bin({encoder, starts, bins}, value) {
  const code = encoder.kind === "numeric_grid" ? grid(encoder, value)
    : encoder.kind === "category_index" ? category(encoder, value)
    : spells(true).test(String(value).trim()) ? 1 : spells(false).test(String(value).trim()) ? 0 : 2;
  return bins[starts.findLastIndex((start) => start <= code)];
}

function leaf(tree, codes) {
  const n = tree.values.length - 1;  // splits
  const tests = tree.complete ? tree.complete.right : tree.splits.map((split) => split.above ?? split.in);
  const columns = tree.complete ? tree.complete.columns : tree.splits.map((split) => split.column);
  let node = n ? 0 : -1;
  while (node >= 0) {
    const test = tests[node], code = codes[columns[node]];
    const right = Array.isArray(test) ? test.includes(code) : code > test;
    const child = 2 * node + 1 + right;
    node = tree.splits ? tree.splits[node].children[Number(right)] : child < n ? child : n - 1 - child;
  }
  return tree.values[-1 - node];
}

export function probabilities({features, intercept, mains, pairs, trees}, row) {
  const codes = features.map((feature) => bin(feature, row[feature.name] ?? null));
  let score = intercept;
  for (const {feature, effect} of mains) score += effect[codes[feature]];
  for (const {features: [i, j], groups, effect} of pairs) score += effect[groups[0][codes[i]]][groups[1][codes[j]]];
  if (trees.length) score += trees.reduce((total, tree) => total + leaf(tree, codes), 0);
  const positive = 1 / (1 + Math.exp(-score));
  return [1 - positive, positive];
}

if (process.argv[1]?.endsWith("predict.mjs")) {
  const {kind, model} = JSON.parse(readFileSync(process.argv[2], "utf-8"));
  if (kind !== "additive") throw new Error(`this reader knows additive models, and not ${kind}`);
  console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map((row) => probabilities(model, row))));
}
