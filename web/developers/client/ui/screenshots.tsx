import { useRef, useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { type Screenshot, ScreenshotImage } from '../../../ui/screenshot.tsx'
import { api, unwrap } from '../api.ts'
import type { App } from './app-screen.tsx'
import { refusalOf } from './roles.ts'

const MOST = 8

const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

/** Images of the listing: added, described, put into order and removed, then saved together. */
export const Screenshots = ({ app }: { app: App }) => {
  const [items, setItems] = useState<readonly Screenshot[]>(
    () => app.pending_revision?.changes.screenshots ?? app.screenshots,
  )
  const picker = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const { busy, failure, act } = useAction()
  const path = { id: app.id }
  const refused = refusalOf('POST /api/v1/dev/apps/{id}/screenshots')
  const add = (files: readonly File[]) =>
    act(async () => {
      for (const file of files) {
        const body = { image: await base64Of(file) }
        const made = await unwrap(api.POST('/api/v1/dev/apps/{id}/screenshots', { params: { path }, body }))
        setItems((now) =>
          now.some(({ id }) => id === made.id) ? now : [...now, { ...made, caption: '' }].slice(0, MOST),
        )
      }
    })
  const save = async (): Promise<void> => {
    const screenshots = items.map(({ id, caption }) => ({ id, caption: caption.trim() }))
    const saved = await unwrap(api.PATCH('/api/v1/dev/apps/{id}', { params: { path }, body: { screenshots } }))
    await refresh('app')
    announce(saved.pending_revision ? t('Saved. Moderators review the changes.') : t('Saved.'))
  }
  const move = (from: number, to: number): void => {
    const next = [...items]
    next.splice(to, 0, ...next.splice(from, 1))
    setItems(next)
    announce(t('{n} of {total}', { n: to + 1, total: next.length }))
    // A button at the list’s end can't keep the focus.
    requestAnimationFrame(() => list.current?.querySelectorAll('input')[to]?.focus())
  }
  const remove = (at: number): void => {
    setItems(items.filter((_, i) => i !== at))
    // The button that had the focus is gone.
    const field = list.current?.querySelectorAll('input')[at === items.length - 1 ? at - 1 : at + 1]
    if (field) field.focus()
    else document.getElementById('add-screenshots')?.focus()
  }
  return (
    <section class="section" aria-labelledby="screenshots">
      <h2 id="screenshots">{t('Screenshots')}</h2>
      <p class="hint">
        {t('Up to 8 images of what the app does. PNG, JPEG or WebP, 320 to 3840 pixels a side, at most 2 MB each.')}
      </p>
      <Form verb={t('Save screenshots')} send={save} refused={refused}>
        {(wrong) => (
          <>
            <ol class="screenshot-list" ref={list}>
              {items.map((one, i) => (
                <li key={one.id}>
                  <ScreenshotImage {...one} />
                  <div>
                    <TextField
                      label={t('Caption')}
                      value={one.caption}
                      required
                      maxLength={120}
                      problem={fieldProblems(wrong)[`screenshots.${i}.caption`]}
                      onText={(caption) => setItems(items.map((other, j) => (j === i ? { ...other, caption } : other)))}
                    />
                    <div class="actions">
                      <button type="button" disabled={i === 0} onClick={() => move(i, i - 1)}>
                        {t('Move up')}
                      </button>
                      <button type="button" disabled={i === items.length - 1} onClick={() => move(i, i + 1)}>
                        {t('Move down')}
                      </button>
                      <button type="button" class="danger" onClick={() => remove(i)}>
                        {t('Remove')}
                      </button>
                    </div>
                  </div>
                </li>
              ))}
            </ol>
            {!refused && (
              <p>
                <input
                  ref={picker}
                  type="file"
                  multiple
                  hidden
                  accept="image/png,image/jpeg,image/webp"
                  onChange={({ currentTarget }) => {
                    const files = [...(currentTarget.files ?? [])]
                    currentTarget.value = ''
                    void add(files)
                  }}
                />
                <button
                  id="add-screenshots"
                  type="button"
                  aria-busy={busy}
                  disabled={items.length >= MOST}
                  onClick={() => picker.current?.click()}
                >
                  {t('Add images')}
                </button>
              </p>
            )}
            {failure && <Problem failure={failure} />}
          </>
        )}
      </Form>
    </section>
  )
}
