/**
 * The document of the console, and the headers of all that it loads. API keys are typed and
 * values are shown here, so it loads only the files beside it and stores nothing, and no page may
 * frame it.
 * @module
 */

/** No script or style that stands in the page, no text that becomes markup, no other host. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** @param type media type of the file */
export const consoleHeaders = (type: string): Readonly<Record<string, string>> => ({
  'content-type': `${type}; charset=utf-8`,
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // No page comes back from a cache, and files of two versions would not fit each other.
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Browsers that support it keep the page in another process than those of other ports.
  'origin-agent-cluster': '?1',
  'permissions-policy': 'camera=(), clipboard-read=(), display-capture=(), geolocation=(), usb=()',
})

/** @param folder path of its files, relative to the document */
export const consolePage = (folder: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Coffer: console</title>
<link rel="icon" type="image/svg+xml" href="${folder}/icon.svg">
<link rel="stylesheet" href="${folder}/app.css">
<script type="module" src="${folder}/app.js"></script>
</head>
<body>
<div id="app"><noscript><p>The console needs JavaScript of this address.</p></noscript></div>
</body>
</html>
`
