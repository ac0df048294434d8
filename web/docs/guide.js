// What makes a guide handier where there is JavaScript. Everything is readable without.

// The reference keeps a person's choice of light or dark; the guides follow it. Browsers that block storage throw.
const chosenMode = () => {
  try {
    return localStorage.getItem('colorMode')
  } catch {
    return null
  }
}

const chosen = chosenMode()
if (chosen === 'light' || chosen === 'dark') document.body.classList.add(`${chosen}-mode`)

// The reference used to be at /docs: addresses of its parts, such as #tag/webhooks, lead on to where it is now.
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
    button.textContent = copied ? 'Copied' : 'Not copied'
    status.textContent = copied ? 'Copied.' : 'The browser did not allow copying.'
    setTimeout(() => {
      button.textContent = 'Copy'
      status.textContent = ''
    }, 2_000)
  })
  return button
}

// Pages that are not from a secure place have no clipboard.
if (navigator.clipboard)
  for (const figure of document.querySelectorAll('figure.code'))
    figure.querySelector('figcaption').after(copyButton(figure))
