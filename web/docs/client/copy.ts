import { announce, element } from './dom.ts'

const copyButton = (figure: Element): HTMLButtonElement => {
  const name = figure.querySelector('figcaption')?.textContent ?? ''
  const button = element('button', { type: 'button', 'aria-label': `Copy: ${name}` }, 'Copy')
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(figure.querySelector('pre')?.textContent ?? '').then(
      () => true,
      () => false,
    )
    button.textContent = copied ? 'Copied' : 'Copy failed'
    announce(copied ? 'Copied.' : 'Your browser blocked copying. Select the text and copy it yourself.')
    setTimeout(() => {
      button.textContent = 'Copy'
      announce('')
    }, 2_000)
  })
  return button
}

export const addCopyButtons = (): void => {
  // The clipboard is available in secure contexts only.
  if (!navigator.clipboard) return
  for (const figure of document.querySelectorAll('figure.code'))
    figure.querySelector('figcaption')?.after(copyButton(figure))
}
