import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Choice, Filters, filter } from '../../../ui/filters.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { count, humanize } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Wish = Schemas['WishedAgent']

const STATES: Record<Wish['status'], [tone: string, label: string]> = {
  open: ['plain', t('Open')],
  claimed: ['running', t('Being built')],
  fulfilled: ['done', t('Available')],
  declined: ['rejected', t('Declined')],
}

const NewWish = ({ onClose }: { onClose: () => void }) => {
  const [title, setTitle] = useState('')
  const [description, setDescription] = useState('')
  const send = async (): Promise<void> => {
    const body = { title: title.trim(), description: description.trim() }
    await unwrap(api.POST('/console/agent-requests', { body }))
    announce(t('Request published.'), { to: '/wishlist?sort=newest', label: t('View') })
    await refresh('wishes')
  }
  return (
    <Modal title={t('Request an agent')} onClose={onClose}>
      <Form verb={t('Publish')} send={send} done={onClose}>
        {(failure) => (
          <>
            <p class="hint">{t('Every workspace and developer can read this request, but not who made it.')}</p>
            <TextField
              label={t('What should it do?')}
              problem={fieldProblems(failure).title}
              required
              maxLength={120}
              value={title}
              onText={setTitle}
            />
            <TextField
              label={t('Details')}
              problem={fieldProblems(failure).description}
              rows={4}
              maxLength={4000}
              value={description}
              onText={setDescription}
            />
          </>
        )}
      </Form>
    </Modal>
  )
}

const Vote = ({ wish }: { wish: Wish }) => {
  const { busy, failure, act } = useAction()
  const path = { id: wish.id }
  const vote = () =>
    act(async () => {
      if (wish.voted) await unwrap(api.DELETE('/console/agent-requests/{id}/vote', { params: { path } }))
      else await unwrap(api.POST('/console/agent-requests/{id}/vote', { params: { path } }))
      await refresh('wishes')
    })
  const closed = wish.status === 'fulfilled' || wish.status === 'declined'
  return (
    <>
      {failure && <Problem failure={failure} />}
      {closed && !wish.voted ? (
        <span class="soft">{t('{votes} votes', { votes: count(wish.votes) })}</span>
      ) : (
        <button type="button" aria-pressed={wish.voted} aria-busy={busy} onClick={vote}>
          <span aria-hidden="true">{wish.voted ? '✓' : '▲'}</span> {count(wish.votes)}
          <span class="unseen"> {t('votes for {title}', { title: wish.title })}</span>
        </button>
      )}
    </>
  )
}

export default function Wishlist() {
  const sort = filter('sort') === 'newest' ? 'newest' : 'votes'
  const [creating, setCreating] = useState(false)
  const wishes = usePages<Wish>(`wishes ${sort}`, (cursor) =>
    unwrap(api.GET('/console/agent-requests', { params: { query: { sort, ...(cursor && { cursor }) } } })),
  )
  return (
    <Screen
      title={t('Agent requests')}
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          {t('Request an agent')}
        </button>
      }
    >
      {creating && <NewWish onClose={() => setCreating(false)} />}
      <p class="soft">
        {t('Agents that people would like to have. Vote for the ones you want. Developers read this list.')}
      </p>
      <Filters>
        <Choice name="sort" label={t('Sort by')} options={{ newest: t('Newest') }} all={t('Most votes')} />
      </Filters>
      <Shown known={wishes} rows={4}>
        {({ items }) =>
          items.length === 0 && !wishes.more ? (
            <Empty icon="wish" title={t('No requests yet')} />
          ) : (
            items.map((wish) => (
              <article key={wish.id} class="card">
                <div class="row plain top-aligned">
                  <span class="grow">
                    <strong>
                      <Name>{wish.title}</Name>
                    </strong>
                    {wish.mine && <span class="soft">{t('Your request')}</span>}
                    {wish.description && <Prose text={wish.description} />}
                    {wish.status_reason && (
                      <span class="soft">
                        <Name>{wish.status_reason}</Name>
                      </span>
                    )}
                  </span>
                  {wish.status !== 'open' && (
                    <State name={STATES[wish.status][0]} label={STATES[wish.status][1] ?? humanize(wish.status)} />
                  )}
                  <Vote wish={wish} />
                </div>
              </article>
            ))
          )
        }
      </Shown>
      <More more={wishes.more} />
    </Screen>
  )
}
