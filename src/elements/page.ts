/**
 * The document of the frame. Text that the shop's page may not see is typed here, so it loads only
 * the files beside it, stores nothing, and can be framed by the allowed origins alone.
 * @module
 */

/**
 * Origins that are safe in a header and in markup: no character that ends a directive or an
 * attribute, and no star in a name, which would let browsers frame the fields on every subdomain.
 */
const plainOrigin = /^[a-z][a-z0-9+.-]*:\/\/[^\s;,'"<>&*]+$/i

/** @param corsOrigins the setting; `*` is any */
export const framingOrigins = (corsOrigins: readonly string[]): readonly string[] =>
  corsOrigins.includes('*') ? ['*'] : corsOrigins.filter(origin => plainOrigin.test(origin))

const features = [
  'accelerometer',
  'camera',
  'clipboard-read',
  'clipboard-write',
  'display-capture',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'storage-access',
  'usb',
  'xr-spatial-tracking',
]

const policy = (origins: readonly string[]): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; " +
  `frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(' ')}`

/** Headers of the frame and of all files that it loads. */
export const headersFor = (origins: readonly string[]): Readonly<Record<string, string>> => ({
  'content-security-policy': policy(origins),
  'permissions-policy': features.map(name => `${name}=()`).join(', '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  // Files of two versions would not fit each other.
  'cache-control': 'no-store',
  // Browsers that support it keep the frame in another process than a shop on a sibling host.
  'origin-agent-cluster': '?1',
  // Together with `open`, a cross-origin isolated page can hold the frame.
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
})

/** For the answers that a shop's page loads: the frame, and the check if it may hold it. */
export const open = { 'cross-origin-resource-policy': 'cross-origin' }

interface FieldMarkup {
  readonly name: string
  readonly autocomplete: string
  /** Attributes for direction and keyboard; default: digits from left to right. */
  readonly writing?: string
  /** Id of a description beside the field's own error. */
  readonly describedBy?: string
}

const digits = 'inputmode="numeric" autocapitalize="off" dir="ltr"'
const words = 'autocapitalize="words" dir="auto"'

const field = (
  { name, autocomplete, writing = digits, describedBy = '' }: FieldMarkup,
  more = '',
) => `
<label id="${name}-label" for="${name}"></label>
<div class="box"><input id="${name}" name="${name}" type="text" ${writing}
 autocomplete="${autocomplete}" autocorrect="off" spellcheck="false"
 required aria-invalid="false" aria-describedby="${describedBy}${name}-error">${more}</div>
<p id="${name}-error" class="error" aria-live="polite"></p>`

const brand = '<span id="brand" aria-live="polite"></span>'

/**
 * The fields are hidden until an allowed page has been met.
 * @param folder path of its files, relative to the document
 */
export const pageFor = (origins: readonly string[], folder: string): string => `<!doctype html>
<html lang="en" data-origins="${origins.join(' ')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Card details</title>
<link rel="stylesheet" href="${folder}/card.css">
<script type="module" src="${folder}/card.js"></script>
</head>
<body>
<div id="main">
<form id="card" novalidate hidden>
<div class="whole">${field(
  { name: 'number', autocomplete: 'cc-number', describedBy: 'brand ' },
  brand,
)}
</div>
<div>${field({ name: 'expiry', autocomplete: 'cc-exp' })}
</div>
<div>${field({ name: 'cvc', autocomplete: 'cc-csc' })}
</div>
<div id="name-field" class="whole">${field({
  name: 'name',
  autocomplete: 'cc-name',
  writing: words,
})}
</div>
</form>
</div>
</body>
</html>
`
