import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { patch, useData } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { place } from '../../../ui/router.ts'
import { api, type Schemas, unwrap } from '../api.ts'

type Saved = Schemas['SavedViews']
type View = Saved['views'][number]

const KEY = 'views'

const save = async (change: (views: View[]) => View[], said: string): Promise<void> => {
  // Another page may have changed them in the meantime.
  const { views } = await unwrap(api.GET('/console/views'))
  const saved = await unwrap(api.PUT('/console/views', { body: { views: change(views) } }))
  patch<Saved>(KEY, () => saved)
  announce(said)
}

/** Filters of the address, in one order, so that equal ones are equal texts. */
const queryOf = (names: readonly string[]): string =>
  new URLSearchParams(
    names.flatMap((name): [string, string][] => {
      const value = place.value.query.get(name)
      return value ? [[name, value]] : []
    }),
  ).toString()

/** Sets of filters that the user saved for a list, and the way to save the current one. @param names the list's filters */
export const Views = ({ screen, names }: { screen: View['screen']; names: readonly string[] }) => {
  const { data } = useData(KEY, () => unwrap(api.GET('/console/views')))
  const [isNaming, setNaming] = useState(false)
  const [name, setName] = useState('')
  const { busy, failure, act } = useAction()
  const query = queryOf(names)
  const { path } = place.value
  const views = data?.views.filter((view) => view.screen === screen) ?? []
  const current = views.find((view) => view.query === query)
  if (views.length === 0 && !query) return null
  return (
    <nav class="views" aria-label={t('Saved views')}>
      <a href={`#${path}`} class="chip" aria-current={query ? undefined : 'true'}>
        {t('All')}
      </a>
      {views.map((view) => (
        <a
          key={view.name}
          href={`#${path}?${view.query}`}
          class="chip"
          aria-current={view === current ? 'true' : undefined}
        >
          <bdi>{sanitize(view.name)}</bdi>
        </a>
      ))}
      {query && !current && (
        <button type="button" class="quiet" onClick={() => setNaming(true)}>
          {t('Save view')}
        </button>
      )}
      {current && (
        <button
          type="button"
          class="quiet danger"
          aria-busy={busy}
          onClick={() =>
            act(() =>
              save(
                (all) => all.filter((view) => view.screen !== screen || view.name !== current.name),
                t('View deleted. The filters stay.'),
              ),
            )
          }
        >
          {t('Delete view')}
        </button>
      )}
      {failure && <Problem failure={failure} />}
      {isNaming && (
        <Modal title={t('Save view')} onClose={() => setNaming(false)}>
          <Form
            verb={t('Save')}
            disabled={!name.trim()}
            send={() =>
              save(
                (all) => [
                  ...all.filter((view) => view.screen !== screen || view.name !== name.trim()),
                  { screen, name: name.trim(), query },
                ],
                t('View saved.'),
              )
            }
            done={() => {
              setNaming(false)
              setName('')
            }}
          >
            <TextField
              label={t('Name')}
              hint={t('Saves the filters that are set. A view with the same name is replaced.')}
              value={name}
              maxLength={60}
              required
              onText={setName}
            />
          </Form>
        </Modal>
      )}
    </nav>
  )
}
