/**
 * Colours of all that the vault shows to people, by what they are for. Each text has a contrast of
 * 4.5 at least on its ground, and each edge of a control 3 (WCAG 2.2, 1.4.3 and 1.4.11).
 * @module
 */

type Colours = Readonly<Record<string, string>>

const light: Colours = {
  text: '#1f2937',
  typed: '#111827',
  field: '#fff',
  edge: '#6b7280',
  hint: '#6b7280',
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

const dark: Colours = {
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

const declare = (colours: Colours): string =>
  Object.entries(colours)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(' ')

/** Gives each colour as a variable of its name, as the system is light or dark. */
export const lookVariables = `:root { color-scheme: light dark; ${declare(light)} }
@media (prefers-color-scheme: dark) { :root { ${declare(dark)} } }
`

/** Gives them light, and dark where the page says so of itself, as a frame does for its shop. */
export const schemeVariables = `html { ${declare(light)} }
html[data-scheme='dark'] { ${declare(dark)} }
`
