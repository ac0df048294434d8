// Shows either the guide, when the address names a part of it (such as an error code), or the API reference, whose
// engine is loaded only then: it is large, and somebody who follows an error's docs_url does not need it.
const guide = document.getElementById('guide')
const reference = document.getElementById('reference')
const { openapi, engine } = document.body.dataset

// The reference keeps a person's choice of light or dark; the guide follows it. Browsers that block storage throw.
const chosenMode = () => {
  try {
    return localStorage.getItem('colorMode')
  } catch {
    return null
  }
}

const chosen = chosenMode()
if (chosen === 'light' || chosen === 'dark') document.body.classList.add(`${chosen}-mode`)

/** The engine's copy buttons have an icon only; people who do not see it need a name. */
const nameCopyButtons = () => {
  for (const button of reference.querySelectorAll('button[class*="copy-button"]:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy')
}

let started = false

const start = () => {
  if (started) return
  started = true
  const script = document.createElement('script')
  script.src = engine
  script.addEventListener('load', () => {
    reference.replaceChildren()
    new MutationObserver(nameCopyButtons).observe(reference, { childList: true, subtree: true })
    window.Scalar.createApiReference(reference, {
      url: new URL(openapi, document.baseURI).href,
      // Everything below keeps the page to its own origin and to what it is for.
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
      persistAuth: false,
      documentDownloadType: 'direct',
    })
  })
  script.addEventListener('error', () => {
    started = false
    const sorry = document.createElement('p')
    sorry.className = 'loading'
    sorry.setAttribute('role', 'alert')
    sorry.textContent = 'The API reference could not be loaded. Reload the page, or read openapi.json.'
    reference.replaceChildren(sorry)
  })
  document.head.append(script)
}

const partOfGuide = () => {
  let id = location.hash.slice(1)
  try {
    id = decodeURIComponent(id)
  } catch {
    // Not ours then: our ids need no escapes.
  }
  const element = id === '' ? null : document.getElementById(id)
  return element !== null && guide.contains(element) ? element : null
}

const show = () => {
  const part = partOfGuide()
  guide.hidden = part === null
  reference.hidden = part !== null
  for (const link of document.querySelectorAll('nav.top a:not(.brand)')) {
    const section = part?.closest('section[aria-labelledby]')?.id ?? 'reference'
    if (link.getAttribute('href') === `#${section}`) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
  }
  if (part === null) start()
  else part.scrollIntoView()
}

window.addEventListener('hashchange', show)
show()
