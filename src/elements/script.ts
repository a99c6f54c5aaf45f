/**
 * The script of the frame, made of its modules when it is first asked for.
 *
 * They are in the binary as texts and become one script: so a frame takes one request for it, its
 * parts are always of one version, and neither a bundler nor a generated file is needed. A module
 * becomes a function that gives what it exports, in the order of the list; a test holds the modules
 * to the few forms of `import` and `export` that are read here.
 * @module
 */
import * as limits from './limits.ts' with { type: 'text' }
import * as brands from './frame/brands.ts' with { type: 'text' }
import * as card from './frame/card.ts' with { type: 'text' }
import * as digits from './frame/digits.ts' with { type: 'text' }
import * as editing from './frame/editing.ts' with { type: 'text' }
import * as expiry from './frame/expiry.ts' with { type: 'text' }
import * as field from './frame/field.ts' with { type: 'text' }
import * as form from './frame/form.ts' with { type: 'text' }
import * as labels from './frame/labels.ts' with { type: 'text' }
import * as main from './frame/main.ts' with { type: 'text' }
import * as name from './frame/name.ts' with { type: 'text' }
import * as outcome from './frame/outcome.ts' with { type: 'text' }
import * as platform from './frame/platform.ts' with { type: 'text' }
import * as properties from './frame/properties.ts' with { type: 'text' }
import * as requests from './frame/requests.ts' with { type: 'text' }
import * as styles from './frame/styles.ts' with { type: 'text' }
import * as texts from './frame/texts.ts' with { type: 'text' }
import * as tokens from './frame/tokens.ts' with { type: 'text' }
import * as vault from './frame/vault.ts' with { type: 'text' }

/** The compiler takes them for modules, whatever the attribute says. */
const textOf = (file: object): string => (file as { readonly default: string }).default

/** Each behind those that it imports. */
const modules: Readonly<Record<string, object>> = {
  limits,
  digits,
  editing,
  expiry,
  name,
  brands,
  card,
  texts,
  labels,
  properties,
  styles,
  platform,
  vault,
  outcome,
  requests,
  field,
  form,
  tokens,
  main,
}

const importLine = /^import \{([^}]*)\} from "\.{1,2}\/([a-z]+)\.ts";$/gm
const exportLine = /^export (?=(?:const|function|async function) (\w+))/gm

function asFunction(name: string, file: object, transpiler: Bun.Transpiler): string {
  const text = transpiler.transformSync(textOf(file))
  const exported = [...text.matchAll(exportLine)].map(([, own]) => own)
  const body = text
    .replaceAll(importLine, (_, names: string, from: string) => `const {${names}} = $${from};`)
    .replaceAll(exportLine, '')
  return `const $${name} = (() => {\n${body}\nreturn {${exported.join(',')}};\n})();\n`
}

let made: string | undefined

/** One module for browsers, without comments. */
export function frameScript(): string {
  if (made !== undefined) return made
  const transpiler = new Bun.Transpiler({ loader: 'ts', target: 'browser' })
  const parts = Object.entries(modules).map(([name, file]) => asFunction(name, file, transpiler))
  const small = new Bun.Transpiler({ loader: 'js', target: 'browser', minifyWhitespace: true })
  return (made = small.transformSync(parts.join('')))
}
