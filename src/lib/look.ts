/**
 * The design of all that the vault shows to people: the console, the page of the interface, the
 * card fields and the site of the documentation. Colours have names by what they are for. Each text
 * has a contrast of 4.5 at least on its ground, and each edge of a control 3 (WCAG 2.2, 1.4.3 and
 * 1.4.11).
 * @module
 */

type Variables = Readonly<Record<string, string>>

const light: Variables = {
  text: '#1f2937',
  typed: '#111827',
  field: '#fff',
  edge: '#6b7280',
  hint: '#636b78',
  brand: '#4b5563',
  focus: '#1d4ed8',
  wrong: '#b42318',
  ground: '#f3f4f6',
  raised: '#fff',
  line: '#d9dce1',
  soft: '#4b5563',
  accent: '#1c5fae',
  'on-accent': '#fff',
  good: '#12734a',
  caution: '#8a4b00',
  reveal: '#fbe3e0',
  mask: '#e1ecf9',
  redact: '#e5e7eb',
}

const dark: Variables = {
  text: '#e5e7eb',
  typed: '#f9fafb',
  field: '#1f2937',
  edge: '#9ca3af',
  hint: '#9ca3af',
  brand: '#d1d5db',
  focus: '#93c5fd',
  wrong: '#fca5a5',
  ground: '#111827',
  raised: '#1a2333',
  line: '#374151',
  soft: '#b6bdc8',
  accent: '#93c5fd',
  'on-accent': '#111827',
  good: '#6ee7b7',
  caution: '#fcd34d',
  reveal: '#5b2320',
  mask: '#1e3a5f',
  redact: '#374151',
}

/** Type, spacing and corners, in steps. Text below 16 pixels is never typed: telephones zoom in. */
const measures: Variables = {
  font: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  mono: "ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Consolas, monospace",
  small: '14px',
  base: '16px',
  title: '24px',
  s1: '4px',
  s2: '8px',
  s3: '12px',
  s4: '16px',
  s5: '24px',
  corner: '8px',
  'corner-small': '4px',
}

const declare = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(' ')

/** @param wrap puts the rule of the dark to where it counts */
const variablesBy = (wrap: (declared: string) => string): string =>
  `:root { ${declare(measures)} ${declare(light)} }\n${wrap(declare(dark))}\n`

/** Gives each colour and measure as a variable of its name, as the system is light or dark. */
export const lookVariables = `:root { color-scheme: light dark; }
${variablesBy(declared => `@media (prefers-color-scheme: dark) { :root { ${declared} } }`)}`

/** Gives them light, and dark where the page says so of itself, as a frame does for its shop. */
export const schemeVariables = variablesBy(declared => `:root[data-scheme='dark'] { ${declared} }`)

/** Gives them light, and dark where the reader of the site has chosen so. */
export const siteVariables = variablesBy(declared => `:root.dark { ${declared} }`)

/** A closed chest, as SVG. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect x="2" y="2" width="28" height="28" rx="7" fill="${light['accent']}"/>
<path d="M8 15v-3a4 4 0 0 1 4-4h8a4 4 0 0 1 4 4v3z" fill="${light['on-accent']}"/>
<path d="M8 17h6v2h4v-2h6v7H8z" fill="${light['on-accent']}"/>
</svg>
`
