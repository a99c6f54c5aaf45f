/**
 * The page of the interface: what this vault gives to the viewer.
 * @module
 */
import { icon } from '../../lib/look.ts'

/** @param folder where its parts are, from the page */
export const pageFrom = (folder: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Coffer: the interface</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
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
 * of servers is left out, since it has this vault alone. The viewer makes only some controls
 * audible in a page read out, and reachable with the keyboard. It would send examples
 * and defaults of optional parameters along, unless those have a value, which null is.
 *
 * It asks for keys in a plain field, whose texts browsers keep and suggest to others. A page that
 * was left, and kept for the way back, would still have the key, and show what it has answered.
 */
export const startScript = `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

addEventListener('pagehide', () => document.querySelector('#ui').replaceChildren())
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

const nameOf = control => {
  if (control.matches('.close-modal')) return 'Close'
  if (control.matches('button')) return 'Details'
  if (control.matches('.examples-select-element')) return 'Example'
  const { paramName } = control.closest('[data-param-name]')?.dataset ?? {}
  return paramName ?? (control.matches('.body-param__text') ? 'Body' : 'Value')
}
const keepOutOfBrowser = () => {
  for (const each of document.querySelectorAll('#ui input:not([autocomplete])')) {
    each.autocomplete = 'off'
  }
  const key = document.querySelector('#api_key_value:not([type="password"])')
  if (key !== null) key.type = 'password'
}
const improve = () => {
  keepOutOfBrowser()
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

/** No style or script that stands in the page itself, and none that is made of a text. */
export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
