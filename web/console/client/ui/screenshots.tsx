import { useEffect, useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { t } from '../../../ui/messages.ts'
import { type Screenshot, ScreenshotImage } from '../../../ui/screenshot.tsx'
import { Name } from '../../../ui/text.tsx'

/** One image in its full size. The arrow keys and buttons go to the others. */
const Large = ({
  items,
  at,
  show,
}: {
  items: readonly Screenshot[]
  at: number
  show: (at: number | undefined | ((now?: number) => number)) => void
}) => {
  const move = (step: number): void => show((now = at) => (now + step + items.length) % items.length)
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent): void => {
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
      if (step !== 0) move(document.dir === 'rtl' ? -step : step)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  const shown = items[at]
  return (
    shown && (
      <Modal title={shown.caption} onClose={() => show(undefined)}>
        <ScreenshotImage key={shown.id} {...shown} />
        {items.length > 1 && (
          <div class="actions">
            <button type="button" onClick={() => move(-1)}>
              {t('Previous')}
            </button>
            <span class="soft" role="status">
              {t('{n} of {total}', { n: at + 1, total: items.length })}
            </span>
            <button type="button" onClick={() => move(1)}>
              {t('Next')}
            </button>
          </div>
        )}
      </Modal>
    )
  )
}

/** Images of an app's listing, which open in their full size. */
export const Screenshots = ({ items }: { items: readonly Screenshot[] }) => {
  const [open, setOpen] = useState<number>()
  return (
    <section class="section" aria-labelledby="screenshots">
      <h2 id="screenshots">{t('Screenshots')}</h2>
      <ul class="screenshots">
        {items.map((one, i) => (
          <li key={one.id}>
            <button
              type="button"
              aria-label={t('Enlarge: {caption}', { caption: sanitize(one.caption) })}
              onClick={() => setOpen(i)}
            >
              <ScreenshotImage {...one} />
            </button>
            <p class="soft">
              <Name>{one.caption}</Name>
            </p>
          </li>
        ))}
      </ul>
      {open !== undefined && <Large items={items} at={open} show={setOpen} />}
    </section>
  )
}
