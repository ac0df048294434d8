// Optional enhancements of the guides, which are readable without JavaScript.

// The reference used to be at /docs. Redirects old links to its parts, such as #tag/webhooks.
const leadOn = () => {
  const part = location.hash.slice(1)
  if (part === 'reference') location.replace(document.body.dataset.reference)
  else if (/^(tag|models?|description|webhook)\b/.test(part) && document.getElementById(part) === null)
    location.replace(`${document.body.dataset.reference}#${part}`)
}
window.addEventListener('hashchange', leadOn)
leadOn()

const status = document.getElementById('copied')

const copyButton = (figure) => {
  const button = document.createElement('button')
  const name = figure.querySelector('figcaption').textContent
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy: ${name}`)
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard
      .writeText(figure.querySelector('code:not(figcaption code)').textContent)
      .then(
        () => true,
        () => false,
      )
    button.textContent = copied ? 'Copied' : 'Copy failed'
    status.textContent = copied ? 'Copied.' : 'Your browser blocked copying. Select the text and copy it yourself.'
    setTimeout(() => {
      button.textContent = 'Copy'
      status.textContent = ''
    }, 2_000)
  })
  return button
}

// The clipboard is available in secure contexts only.
if (navigator.clipboard)
  for (const figure of document.querySelectorAll('figure.code'))
    figure.querySelector('figcaption').after(copyButton(figure))
