// Draws the API reference from openapi.json. Its engine is large: only this page loads it.
const reference = document.getElementById('reference')
const { openapi, engine } = document.body.dataset

/** The engine's copy buttons have an icon only; people who do not see it need a name. */
const nameCopyButtons = () => {
  for (const button of reference.querySelectorAll('button[class*="copy-button"]:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy')
}

/** Puts words in the place of the list that is there for who has no JavaScript. */
const say = (role, words) => {
  const paragraph = document.createElement('p')
  paragraph.className = 'loading'
  paragraph.setAttribute('role', role)
  paragraph.textContent = words
  reference.replaceChildren(paragraph)
}

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
script.addEventListener('error', () =>
  say('alert', 'The API reference could not be loaded. Reload the page, or read openapi.json.'),
)
say('status', 'Loading the API reference…')
document.head.append(script)
