"use strict";
/* A second checker of a claim, for readers without Python: digests (RFC 8785), the ledger's sum, composition where it
   has a closed form, and the signature (Ed25519). A finding is {what, holds, words}; holds is null where this page cannot
   tell, and `tacit verify` can. */

const AGREEMENT = 1e-6, TOLERANCE = 1e-9, MOST = 1e12, MOST_DELTA = 0.01;

// Canonical text: keys in order of UTF-16, no blanks, numbers as JavaScript writes them.
function canonical(value) {
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  if (value !== null && typeof value === "object")
    return "{" + Object.keys(value).sort().map(key => JSON.stringify(key) + ":" + canonical(value[key])).join(",") + "}";
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error("a number that JSON lacks");
  return JSON.stringify(value);
}

const hex = bytes => [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, "0")).join("");
const unhex = text => {
  if (typeof text !== "string" || !/^([0-9a-f]{2})+$/.test(text)) throw new Error("not hexadecimal");
  return Uint8Array.from(text.match(/../g), pair => parseInt(pair, 16));
};
const utf8 = text => new TextEncoder().encode(text);
const sha256 = async value => hex(await crypto.subtle.digest("SHA-256", utf8(canonical(value))));

// erfc, and exp(x^2) erfc(x), to about 1e-13 of themselves: a series below 2.5, a continued fraction above.
function erfcx(x) {
  if (x < 2.5) return Math.exp(x * x) * erfc(x);
  let tail = x;
  for (let k = 200; k > 0; k--) tail = x + (k / 2) / tail;
  return 1 / (Math.sqrt(Math.PI) * tail);
}
function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x >= 2.5) return Math.exp(-x * x) * erfcx(x);
  let term = x, sum = x;
  for (let n = 1; term > 1e-18 * sum; n++) sum += term *= 2 * x * x / (2 * n + 1);
  return 1 - 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}
const upperTail = x => erfc(x / Math.SQRT2) / 2;
const mills = x => Math.sqrt(Math.PI / 2) * erfcx(x / Math.SQRT2);

// Delta of the Gaussian mechanism (Balle, Wang 2018, Theorem 8); mu is sensitivity over standard deviation.
function gaussianDelta(mu, epsilon) {
  if (mu === 0) return 0;
  if (mu === Infinity) return 1;
  const a = epsilon / mu - mu / 2, b = epsilon / mu + mu / 2;
  const density = Math.exp(-a * a / 2) / Math.sqrt(2 * Math.PI);
  return Math.min(1, (a < 0 ? upperTail(a) : density * mills(a)) - density * mills(b));
}
function smallestTrue(test, low, high) {
  for (let k = 0; k < 200 && high - low > 1e-15 * high; k++) {
    const middle = low + (high - low) / 2;
    if (test(middle)) high = middle; else low = middle;
  }
  return high;
}
function gaussianEpsilon(mu, delta) {
  if (mu === 0) return 0;
  if (!(delta > 0) || mu === Infinity) return Infinity;
  if (gaussianDelta(mu, 0) <= delta) return 0;
  const bound = mu * mu / 2 + mu * Math.sqrt(-2 * Math.log(delta));
  return smallestTrue(epsilon => gaussianDelta(mu, epsilon) <= delta, 0, bound * (1 + 1e-12));
}
// The Gaussian privacy of a bounded range: 2 q, P(N > q) = 1 / (1 + exp(span / 2)).
function gaussianOfRange(span) {
  const tail = 1 / (1 + Math.exp(span / 2));
  return tail === 0 ? Infinity : 2 * smallestTrue(q => upperTail(q) <= tail, 0, 40);
}

const isTable = value => value !== null && typeof value === "object" && !Array.isArray(value);
const sameNames = (value, names) => isTable(value) && Object.keys(value).sort().join() === [...names].sort().join();
const number = value => value === "inf" ? Infinity : typeof value === "number" ? value : NaN;
const text = value => typeof value === "string", flag = value => typeof value === "boolean", whole = Number.isSafeInteger;
const list = each => value => Array.isArray(value) && value.every(each);
const maybe = kind => value => value === null || kind(value);
const amount = value => number(value) >= 0, row = each => value => list(each)(value) && value.length > 0;
const total = values => values.reduce((sum, each) => sum + each, 0);
// What a charge of each kind holds, and what is true of it as a whole.
const HOLDS = {
  gaussian: {noise_multiplier: z => number(z) > 0 && (1 / number(z)) ** 2 > 0},
  laplace: {noise_multiplier: z => number(z) > 0 && 1 / number(z) > 0},
  bounded_range: {range: amount}, pure: {epsilon: amount}, zcdp: {rho: amount},
  renyi: {orders: row(a => number(a) > 1 && number(a) < Infinity), divergences: row(amount)},
  privacy_loss: {losses: row(Number.isFinite), probabilities: row(amount), infinity_mass: amount},
  approx_dp: {epsilon: amount, delta: d => number(d) >= 0 && number(d) < 1}, non_private: {},
  repeated: {charge: isTable, times: n => whole(n) && n >= 1}};
const WHOLE = {
  renyi: charge => charge.orders.length === charge.divergences.length,
  privacy_loss: ({losses, probabilities, infinity_mass}) => losses.length === probabilities.length
    && Math.abs(total(probabilities) + infinity_mass - 1) < 1e-9
    && total(probabilities.map((p, k) => p * Math.exp(Math.min(-losses[k], 700)))) <= 1 + 1e-9};
function isCharge(charge) {
  if (!(isTable(charge) && text(charge.kind) && Object.hasOwn(HOLDS, charge.kind))) return false;
  const rules = HOLDS[charge.kind];
  return sameNames(charge, ["kind", ...Object.keys(rules)]) && Object.keys(rules).every(name => rules[name](charge[name]))
    && (WHOLE[charge.kind] || (() => true))(charge);
}
// The charges with repetitions opened: pairs of a simple charge and how often it is used.
function uses(charges) {
  return charges.map(charge => {
    let times = 1;
    for (; isCharge(charge) && charge.kind === "repeated"; charge = charge.charge) times *= charge.times;
    if (!isCharge(charge)) throw new Error("a charge is none that this page knows");
    return [charge, times];
  });
}
const precisionOf = charge => number(charge.noise_multiplier) ** -2;
const pureOf = charge => charge.kind === "laplace" ? 1 / number(charge.noise_multiplier)
  : number(charge.kind === "pure" ? charge.epsilon : charge.range);

// What charges amount to: sums by kind, and whether there are others, of which this page knows no closed form.
function parts(charges) {
  const found = {precision: 0, pure: 0, approxEpsilon: 0, approxDelta: 0, others: false, unlimited: false};
  for (const [charge, times] of uses(charges)) {
    if (charge.kind === "gaussian") found.precision += times * precisionOf(charge);
    else if (["laplace", "pure", "bounded_range"].includes(charge.kind)) found.pure += times * pureOf(charge);
    else if (charge.kind === "approx_dp") {
      found.approxEpsilon += times * number(charge.epsilon);
      found.approxDelta += times * number(charge.delta);
    } else if (charge.kind === "non_private") found.unlimited = true;
    else found.others = true;
  }
  found.unlimited ||= !(Math.max(found.precision, found.pure, found.approxEpsilon) <= MOST);
  return found;
}

// Epsilon of the composition at delta: {epsilon, exact}; null where no closed form is known here.
function epsilonOf(charges, delta) {
  const sums = parts(charges);
  if (sums.unlimited) return {epsilon: Infinity, exact: true};
  if (sums.others) return null;
  const plain = sums.pure + sums.approxEpsilon, left = delta - sums.approxDelta;
  if (delta === 0) return {epsilon: sums.precision || sums.approxDelta ? Infinity : plain, exact: true};
  if (plain === 0 && sums.approxDelta === 0) return {epsilon: gaussianEpsilon(Math.sqrt(sums.precision), delta), exact: true};
  if (left < 0) return null;
  return {epsilon: plain + gaussianEpsilon(Math.sqrt(sums.precision), left), exact: false};
}

// Whether the charges pay for the entries: one Gaussian pool, one pure charge, and charges used as they are.
function covered(charges, entries) {
  const stock = new Map(), due = [];
  let pool = 0, pure = [], others = false;
  for (const [charge, times] of uses(charges)) {
    if (charge.kind === "gaussian") pool += times * precisionOf(charge);
    else if (["laplace", "pure"].includes(charge.kind)) pure.push([pureOf(charge), times]);
    else if (charge.kind === "non_private") return true;
    else if (["zcdp", "privacy_loss", "renyi"].includes(charge.kind)) others = true;
    const key = canonical(charge);
    stock.set(key, (stock.get(key) || 0) + times);
  }
  for (const [charge, times] of uses(entries)) {
    const key = canonical(charge), same = charge.kind === "gaussian" ? 0 : Math.min(times, stock.get(key) || 0);
    stock.set(key, (stock.get(key) || 0) - same);
    if (["laplace", "pure"].includes(charge.kind)) due.push([charge, times]);
    else if (times > same) due.push([charge, times - same]);
  }
  if (others && due.length) return null;
  let precision = 0, ranges = 0, small = 0;
  for (const [charge, times] of due) {
    if (charge.kind === "gaussian") precision += times * precisionOf(charge);
    else if (charge.kind === "bounded_range") {
      ranges += times * gaussianOfRange(number(charge.range)) ** 2;
      small += times * number(charge.range);
    } else if (["laplace", "pure"].includes(charge.kind)) small += times * pureOf(charge);
    else if (charge.kind === "approx_dp" && stockHolds(charges, "approx_dp")) return null;
    else if (!(charge.kind === "zcdp" && number(charge.rho) === 0)) return false;
  }
  const within = (spent, total) => spent <= total * (1 + TOLERANCE);
  const pureDue = due.some(([charge]) => charge.kind === "laplace" || charge.kind === "pure");
  if (pureDue || (ranges && !pool)) {
    if (pure.length > 1 || (pure.length && pure[0][1] > 1)) return null;
    const budget = pure.length ? pure[0][0] : 0;
    if (pool && ranges) return within(small, budget) && within(precision, pool) ? true : null;
    return within(small, budget) && within(precision, pool);
  }
  if (within(precision + ranges, pool)) return true;
  return ranges && pure.length ? null : false;
}
const stockHolds = (charges, kind) => uses(charges).some(([charge]) => charge.kind === kind);

const finding = (what, holds, words) => ({what, holds, words});
const said = value => value === Infinity ? "without limit" : Number(value.toPrecision(6)).toString();

function costFinding(claim) {
  const promise = number(claim.epsilon), delta = number(claim.delta);
  if (!(promise >= 0 && delta >= 0 && delta < 1)) return finding("cost", false, "epsilon and delta are no promise");
  const cost = epsilonOf(claim.charges, delta);
  const promised = `promised is ${said(promise)} at delta ${delta}`;
  if (cost === null) return finding("cost", null, `These charges have no closed form here; ${promised}.`);
  const enough = cost.epsilon <= promise * (1 + AGREEMENT);
  const words = `The charges cost epsilon ${cost.exact ? "" : "at most "}${said(cost.epsilon)}; ${promised}.`;
  return finding("cost", enough ? true : cost.exact ? false : null, words);
}
function coverFinding(claim) {
  const pays = covered(claim.charges, claim.entries.map(entry => entry.charge));
  const words = pays ? "Every release is paid for by what was reserved." : pays === null
    ? "How these charges pay for the releases cannot be told here." : "Releases are not paid for by what was reserved.";
  return finding("ledger", pays, words);
}
const STAGES = ["counts", "classes", "bounds", "categories", "kinds", "binning", "scaling", "intercept", "sweeps",
  "joint sweeps", "pair screening", "pair counts", "residual looks", "unexplained variance", "splits", "trees", "leaves",
  "rounds", "end tests", "rules", "concepts", "rows behind the gate", "fits", "foreign learners", "streams", "calibration",
  "evaluation", "selection", "batches"];
const never = value => value === undefined;
const isAssumption = value => sameNames(value, ["subject", "text", "accepted"]) && text(value.subject) && text(value.text)
  && flag(value.accepted);
// What stands in a claim and in a release, and of which kind it is.
const ENTRY = {label: text, stage: value => never(value) || STAGES.includes(value), charge: isCharge, theorem: text,
  subject: value => never(value) || (text(value) && value !== ""), round: value => never(value) || (whole(value) && value >= 0)};
const FIELDS = {format: text, version: whole, digest: text, signature: value => never(value) || isTable(value),
  epsilon: amount, delta: amount, neighbouring: text, n_public: flag, rows_per_unit: whole, charges: list(isCharge),
  entries: list(entry => fits(entry, ENTRY)), noise_source: text, releasable: flag, reasons: list(text), algorithm: text,
  outcome: text, schema_fingerprint: maybe(text), dataset: maybe(text), versions: value => isTable(value)
  && Object.values(value).every(text), created: text, unit: maybe(text), unit_name: value => never(value) || text(value),
  target: maybe(text), columns: maybe(value => whole(value) || list(text)(value)), parameters: isTable,
  model_digest: maybe(text), schema_digest: maybe(text), ledger_digest: text, data: maybe(text),
  assumptions: list(isAssumption), tape: value => never(value) || text(value)};
const fits = (value, kinds) => isTable(value) && Object.keys(value).every(name => Object.hasOwn(kinds, name))
  && Object.keys(kinds).every(name => kinds[name](value[name])) && (!("subject" in value || "round" in value) || "stage" in value);
const N_PUBLIC = {add_or_remove_one: false, replace_one: true};

// What a claim says about itself: nothing that no claim holds, and nothing that contradicts the rest.
function statementFinding(claim) {
  const bare = number(claim.epsilon) === Infinity || number(claim.delta) > MOST_DELTA || claim.outcome !== "completed";
  const sources = typeof claim.noise_source === "string" ? claim.noise_source.split(" and ") : [];
  const wrong = [
    [!fits(claim, FIELDS), "it holds what no claim holds, or lacks what each has"],
    [!(Object.hasOwn(N_PUBLIC, claim.neighbouring) && claim.n_public === N_PUBLIC[claim.neighbouring]),
      "its neighbouring relation is none"],
    [!(Number.isInteger(claim.rows_per_unit) && claim.rows_per_unit >= 1), "a person has at least one row"],
    [typeof claim.releasable !== "boolean" || !Array.isArray(claim.reasons) || claim.releasable === claim.reasons.length > 0,
      "whether it may be released does not agree with the reasons"],
    [claim.releasable && bare, "it says it is releasable, and nothing is promised"],
    [claim.releasable && !(sources.length && sources.every(name => ["tacit", "opendp"].includes(name))),
      "it says it is releasable, and its noise can be replayed"],
    [claim.releasable && !(Array.isArray(claim.assumptions) && claim.assumptions.every(each => each.accepted)),
      "it says it is releasable, and nobody answers for what it assumes"],
    [claim.model_digest && claim.outcome === "completed" && !claim.entries.length,
      "it is of a model, and lists no release that the model could be made from"],
  ].filter(([so]) => so).map(([, words]) => words);
  return finding("statement", !wrong.length, wrong.length ? `${wrong.join("; ")}.` : "It agrees with itself.");
}
async function digestFinding(what, value, stated) {
  const same = await sha256(value) === stated;
  return finding(what, same, same ? "The digest fits." : "The digest does not fit: something was changed.");
}

async function signatureFinding(claim) {
  const signed = claim.signature;
  if (signed === undefined) return finding("signature", null, "Nobody signed: nothing says who made this.");
  const digests = {model: claim.model_digest, schema: claim.schema_digest, ledger: claim.ledger_digest, certificate: claim.digest};
  const about = signed.statement;
  if (!about || Object.keys(digests).some(name => about[name] !== digests[name]))
    return finding("signature", false, "What was signed is about another model, schema, ledger or certificate.");
  let key, bytes;
  try {
    [key, bytes] = [unhex(signed.key), unhex(signed.signature)];
  } catch {
    return finding("signature", false, "The signature is damaged.");
  }
  try {
    key = await crypto.subtle.importKey("raw", key, {name: "Ed25519"}, false, ["verify"]);
  } catch (error) {
    if (error.name === "NotSupportedError") return finding("signature", null, "This browser does not know Ed25519.");
    return finding("signature", false, "The key is none.");
  }
  const holds = await crypto.subtle.verify({name: "Ed25519"}, key, bytes, utf8(canonical(about)));
  return finding("signature", holds, holds ? `Signed with the key ${signed.key}; compare it with one you know.`
    : "The signature does not belong to what was signed.");
}

// All that can be told from a model file, or from a certificate alone.
async function check(data) {
  const claim = data && data.format === "tacit certificate" ? data : data && data.certificate;
  if (!claim || claim.format !== "tacit certificate") return [finding("file", false, "It holds no certificate.")];
  if (claim.version !== 1) return [finding("file", null, "The certificate has a format that this page does not read.")];
  if (!Array.isArray(claim.charges) || !Array.isArray(claim.entries) || !claim.entries.every(isTable))
    return [finding("file", false, "The certificate is damaged.")];
  const {format, digest, signature, ...content} = claim;
  const findings = [
    await digestFinding("certificate", content, digest),
    await digestFinding("ledger's text", {charges: claim.charges, entries: claim.entries}, claim.ledger_digest),
  ];
  if (claim !== data) {
    findings.push(await digestFinding("model", {kind: data.kind, model: data.model}, claim.model_digest));
    if (claim.schema_digest && data.schema === undefined)
      findings.push(finding("schema", null, "The file lacks the schema that its certificate names."));
    else if (claim.schema_digest) findings.push(await digestFinding("schema", data.schema, claim.schema_digest));
  }
  return [...findings, statementFinding(claim), costFinding(claim), coverFinding(claim), await signatureFinding(claim)];
}
// Whether a table of a JSON text has a name twice: readers differ in which of the two they take.
function saysTwice(text) {
  const open = [];
  for (const [token, name, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*(:)?|[{}]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (colon && open.length) {
      const names = open[open.length - 1], read = JSON.parse(name);
      if (names.has(read)) return true;
      names.add(read);
    }
  }
  return false;
}
async function checkText(text) {
  try {
    if (saysTwice(text)) throw new Error("it says one thing twice");
    return await check(JSON.parse(text));
  } catch (error) {
    return [finding("file", false, `It cannot be read: ${error.message}`)];
  }
}

function show(place, findings) {
  const mark = holds => holds ? "holds" : holds === null ? "cannot be told here" : "DOES NOT HOLD";
  place.replaceChildren(...findings.map(each => {
    const line = document.createElement("li");
    line.textContent = `${each.what}: ${mark(each.holds)}. ${each.words}`;
    line.dataset.holds = String(each.holds);
    return line;
  }));
}
function start() {
  const section = document.getElementById("checker");
  if (!section) return;
  const place = section.querySelector("ul"), input = section.querySelector("input");
  const claim = document.getElementById("claim");
  section.hidden = false;
  const read = async file => show(place, await checkText(await file.text()));
  input.addEventListener("change", () => input.files.length && read(input.files[0]));
  section.addEventListener("dragover", event => event.preventDefault());
  section.addEventListener("drop", event => {
    event.preventDefault();
    if (event.dataTransfer.files.length) read(event.dataTransfer.files[0]);
  });
  if (!(globalThis.crypto && crypto.subtle)) show(place, [finding("page", null, "This browser does not compute digests.")]);
  else if (claim) checkText(claim.textContent).then(findings => show(place, findings));
}

if (typeof module !== "undefined") module.exports = {canonical, sha256, check, checkText, epsilonOf, covered, gaussianEpsilon};
if (typeof document !== "undefined") start();
