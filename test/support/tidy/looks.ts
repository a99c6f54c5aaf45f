/**
 * One design: what the vault shows to people takes its colours, its fonts and their sizes from
 * `src/lib/look.ts`.
 * @module
 */
import type { Project, Rule } from './project.ts'

/** Styles and pages of the console, the card fields, the page of the interface, and the site. */
const designed = [
  /^src\/console\/.*\.(?:css|tsx?)$/,
  /^src\/elements\/(?:[\w-]+\.css|page\.ts)$/,
  /^src\/http\/documentation\/reference-page\.(?:css|ts)$/,
  /^scripts\/site\/.*\.(?:css|ts)$/,
]

const named = 'black|white|gr[ae]y|red|green|blue|yellow|orange|purple|pink|brown|silver|navy|teal'

const namedColour = new RegExp(
  `\\b(?:color|background|fill|stroke|border|outline)[\\w-]*: [^;]*\\b(?:${named})\\b`,
)

const literals = [
  // Also in an attribute of SVG, and behind `%23` in an address.
  ['a colour', /(?:(?<![\w&/])#|%23)(?:[\da-f]{3,4}){1,2}\b(?![-\w/])/i],
  ['a colour', /\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\(/],
  ['a colour', namedColour],
  ['a font', /\bfont(?:-family)?: [^;]*\b(?:sans-serif|serif|monospace|system-ui)\b/],
  ['a size of type', /\bfont(?:-size)?: [^;]*\d(?:px|rem|em|pt)\b/],
] as const

const checkLooks = ({ files }: Project): string[] =>
  [...files]
    .filter(([path]) => designed.some(pattern => pattern.test(path)))
    .flatMap(([path, text]) =>
      text
        .split('\n')
        .flatMap((line, index) =>
          literals
            .filter(([, pattern]) => pattern.test(line))
            .map(([what]) => `${path}:${index + 1}: ${what} of its own`),
        ),
    )

export const lookRules: readonly Rule[] = [
  { name: 'pages take colours and type from the one design', check: checkLooks },
]
