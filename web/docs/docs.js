// Renders the API reference from the page's OpenAPI document. The rendering engine is large, so only this page loads it.
const reference = document.getElementById('reference')
const { openapi, engine } = document.body.dataset
const engineUrl = new URL(engine, document.baseURI).href

/** Elements that run code, load something, or change what the page's other elements mean. */
const FORBIDDEN = 'script, iframe, frame, object, embed, applet, base, meta, link, form, foreignobject, animate, set'

const isForbiddenAttribute = ({ name, value }) =>
  /^on|^(srcdoc|formaction)$/i.test(name) ||
  // Browsers ignore control characters and spaces in a scheme.
  (/^(href|src|xlink:href|action|data)$/i.test(name) &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: see above
    /^(javascript|vbscript|data:text)/i.test(value.replace(/[\u0000-\u0020]/g, '')))

const clean = (root) => {
  for (const element of root.querySelectorAll(FORBIDDEN)) element.remove()
  for (const element of root.querySelectorAll('*')) {
    for (const attribute of [...element.attributes])
      if (isForbiddenAttribute(attribute)) element.removeAttributeNode(attribute)
    if (element.content instanceof DocumentFragment) clean(element.content)
  }
}

/**
 * Cleans all markup that the engine makes of text, and refuses code and scripts other than the engine. The document that it
 * renders has texts that people wrote, and the engine is far larger than anything that can be read.
 */
const restrictEngine = () => {
  const { trustedTypes } = window
  if (trustedTypes === undefined) return
  const parse = trustedTypes.createPolicy('docs-parse', { createHTML: (html) => html })
  trustedTypes.createPolicy('default', {
    createHTML: (html) => {
      const template = document.createElement('template')
      template.innerHTML = parse.createHTML(html)
      clean(template.content)
      return template.innerHTML
    },
    createScriptURL: (url) => (url === engineUrl ? url : null),
    // The engine asks whether it may compile code, with an empty function. The security policy then says no, quietly.
    createScript: (code) => (/^\(function anonymous\(\s*\) \{\s*\}\)$/.test(code) ? code : null),
  })
  // The engine would make a policy of its own that lets everything through. Without this interface it passes text, which
  // goes through the policy above.
  Object.defineProperty(window, 'trustedTypes', { value: undefined })
}
restrictEngine()

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
script.src = engineUrl
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
