/**
 * Small projects with looks of their own, and neighbours that take them from the one design.
 * @module
 */
import type { Sample } from './structure-samples.ts'

const rule = 'pages take colours and type from the one design'

export const lookSamples: readonly Sample[] = [
  {
    rule,
    says: 'lets variables pass, names of elements, and the design itself',
    files: {
      'src/lib/look.ts': `const text = '#1f2937'`,
      'src/elements/frame/styles.ts': `'such as #333 or rgb(0 0 0 / 50%)'`,
      'src/console/console.css':
        '#add-face {\n  color: var(--text);\n  font-size: var(--small);\n}',
      'src/console/app/frame.tsx': 'href={`#/${to}`}\nquerySelector("#app")',
    },
    finds: [],
  },
  {
    rule,
    says: 'refuses a colour in each of the four',
    files: {
      'src/console/console.css': 'a { color: #FFF; }\na { border: 1px solid red; }',
      'src/elements/card.css': 'a { color: rgb(0 0 0 / 50%); }',
      'src/elements/page.ts': `<rect fill="#1c5fae"/>`,
      'src/http/documentation/reference-page.css': 'a { color: #3b415180; }',
      'scripts/site/.vitepress/theme/coffer.css': 'a { fill: oklch(0.5 0 0); }',
    },
    finds: [
      'src/console/console.css:1: a colour of its own',
      'src/console/console.css:2: a colour of its own',
      'src/elements/card.css:1: a colour of its own',
      'src/elements/page.ts:1: a colour of its own',
      'src/http/documentation/reference-page.css:1: a colour of its own',
      'scripts/site/.vitepress/theme/coffer.css:1: a colour of its own',
    ],
  },
  {
    rule,
    says: 'refuses fonts and their sizes',
    files: {
      'src/console/console.css': 'a { font-family: Inter, sans-serif; }\nb { font-size: 13px; }',
      'src/elements/card.css': 'a { font: 16px/1.4 var(--font); }',
    },
    finds: [
      'src/console/console.css:1: a font of its own',
      'src/console/console.css:2: a size of type of its own',
      'src/elements/card.css:1: a size of type of its own',
    ],
  },
]
