// Renders the API reference from the page's OpenAPI document. The rendering engine is large, so only this page loads it.
const reference = document.getElementById('reference')
const { openapi, engine } = document.body.dataset

/** Names the engine's icon-only copy buttons for screen readers. */
const nameCopyButtons = () => {
  for (const button of reference.querySelectorAll('button[class*="copy-button"]:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy')
}

/** Replaces the list shown without JavaScript by a message. */
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
    // The settings below keep the page to its own origin and purpose.
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
  say('alert', 'The API reference couldn’t be loaded. Reload the page, or read its OpenAPI document instead.'),
)
say('status', 'Loading the API reference…')
document.head.append(script)
