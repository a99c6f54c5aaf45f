/**
 * The page of the interface: what this vault gives to the viewer, and how it looks.
 * @module
 */

/** @param folder where its parts are, from the page */
export const pageFrom = (folder: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Coffer: the interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}/ui.css">
<link rel="stylesheet" href="${folder}/page.css">
</head>
<body>
<div id="ui"></div>
<script src="${folder}/ui.js"></script>
<script src="${folder}/start.js"></script>
</body>
</html>
`

/**
 * The viewer has a class for the dark, and sets it in a bar of its own that is not here. Its list
 * of servers is left out, since it has this vault alone. What people hear of a page read out to
 * them, and reach with the keyboard, the viewer gives to some controls only. It would send examples
 * and defaults of optional parameters along, unless those have a value, which null is.
 */
export const startScript = `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

const nameOf = control => {
  if (control.matches('.close-modal')) return 'Close'
  if (control.matches('button')) return 'Details'
  if (control.matches('.examples-select-element')) return 'Example'
  const { paramName } = control.closest('[data-param-name]')?.dataset ?? {}
  return paramName ?? (control.matches('.body-param__text') ? 'Body' : 'Value')
}
const improve = () => {
  const controls = '#ui :is(select, textarea, input, button):not([aria-label], [id])'
  for (const each of document.querySelectorAll(controls)) {
    if (each.matches(':not(button)') || each.innerText === '') each.ariaLabel = nameOf(each)
  }
  for (const each of document.querySelectorAll('#ui pre:not([tabindex])')) each.tabIndex = 0
  const mismatched = '#ui button[aria-label="Apply credentials"]'
  for (const each of document.querySelectorAll(mismatched)) each.removeAttribute('aria-label')
}
new MutationObserver(improve).observe(document.querySelector('#ui'), {
  childList: true,
  subtree: true,
})

const emptyUnlessChosen =
  select =>
  (_, ...which) => {
    const parameter = select(...which)
    const isFilled = parameter.get('required') || parameter.get('value') !== undefined
    return isFilled ? parameter : parameter.set('value', null)
  }

SwaggerUIBundle({
  url: new URL('json', document.currentScript.src).href,
  dom_id: '#ui',
  validatorUrl: null,
  syntaxHighlight: { theme: 'obsidian' },
  plugins: [
    () => ({
      wrapComponents: { ServersContainer: () => () => null },
      statePlugins: { spec: { wrapSelectors: { parameterWithMetaByIdentity: emptyUnlessChosen } } },
    }),
  ],
})
`

/** Contrasts of 4.5 at least (WCAG 2.2, 1.4.3), and no more than the width of a telephone. */
export const pageStyle = `body {
  margin: 0;
}
.swagger-ui .btn {
  transition: none;
}
.swagger-ui .opblock .opblock-summary-method {
  color: #111;
  text-shadow: none;
}
.swagger-ui :is(.btn.execute, .download-contents) {
  background-color: #1c5fae;
  border-color: #1c5fae;
  color: #fff;
}
.swagger-ui .json-schema-2020-12__constraint {
  background-color: #40566b;
  color: #fff;
}
.swagger-ui .info .title small.version-stamp {
  background-color: #40566b;
}
html:not(.dark-mode) .swagger-ui :is(.url, .info a, .info .link),
html:not(.dark-mode) .swagger-ui .json-schema-2020-12-expand-deep-button {
  color: #1c5fae;
}
html:not(.dark-mode) .swagger-ui :is(.parameter__in, .renderedMarkdown p) {
  color: #3b4151;
}
html:not(.dark-mode) .swagger-ui .markdown code,
html:not(.dark-mode) .swagger-ui .renderedMarkdown code {
  color: #6d05cc;
}
html:not(.dark-mode) .swagger-ui .btn.authorize,
html:not(.dark-mode) .swagger-ui .btn.authorize span {
  border-color: #12734a;
  color: #12734a;
  fill: #12734a;
}
html:not(.dark-mode) .swagger-ui .btn.cancel {
  border-color: #b3261e;
  color: #b3261e;
}
html.dark-mode .swagger-ui .opblock .btn.try-out__btn.cancel {
  border-color: #ff9d94;
  color: #ff9d94;
}
.dark-mode .swagger-ui :is(.examples-select__section-label, .header-col, .headers td) {
  color: #e4e6e6;
}
@media (width <= 640px) {
  .swagger-ui .wrapper {
    padding: 0 12px;
  }
  .swagger-ui .scheme-container {
    padding: 12px 0;
  }
  .swagger-ui :is(table.parameters, table.responses-table),
  .swagger-ui :is(table.parameters, table.responses-table) > tbody,
  .swagger-ui :is(table.parameters, table.responses-table) > tbody > tr,
  .swagger-ui :is(table.parameters, table.responses-table) > tbody > tr > td {
    box-sizing: border-box;
    display: block;
    max-width: 100%;
    min-width: 0;
    padding-left: 0;
    width: 100%;
  }
  .swagger-ui :is(table.parameters, table.responses-table) > thead {
    display: none;
  }
  .swagger-ui .opblock-section :is(input, select, textarea) {
    box-sizing: border-box;
    max-width: 100%;
    min-width: 0;
  }
}
`

/** No style or script that stands in the page itself, and none that is made of a text. */
export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
