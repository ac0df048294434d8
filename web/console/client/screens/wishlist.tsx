import { useState } from 'preact/hooks'
import { useAct } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { count, words } from '../../../ui/format.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State } from '../../../ui/text.tsx'
import { api, type Schemas, take } from '../api.ts'

type Wish = Schemas['WishedAgent']

const STATES: Record<Wish['status'], [tone: string, label: string]> = {
  open: ['plain', 'Open'],
  claimed: ['running', 'Being built'],
  fulfilled: ['done', 'There now'],
  declined: ['rejected', 'Declined'],
}

const NewWish = ({ onClose }: { onClose: () => void }) => {
  const [title, setTitle] = useState('')
  const [description, setDescription] = useState('')
  const send = async (): Promise<void> => {
    const body = { title: title.trim(), description: description.trim() }
    await take(api.POST('/console/agent-requests', { body }))
    announce('Your wish is on the list.')
    await refresh('wishes')
  }
  return (
    <Modal title="Wish for an agent" onClose={onClose}>
      <Form verb="Publish" send={send} done={onClose}>
        {(failure) => (
          <>
            <p class="hint">Every organization and developer can read it, without learning who asked.</p>
            <TextField
              label="What it would do, in a few words"
              problem={fieldProblems(failure).title}
              required
              maxLength={120}
              value={title}
              onText={setTitle}
            />
            <TextField
              label="More about it"
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
  const { busy, failure, act } = useAct()
  const path = { id: wish.id }
  const vote = () =>
    act(async () => {
      if (wish.voted) await take(api.DELETE('/console/agent-requests/{id}/vote', { params: { path } }))
      else await take(api.POST('/console/agent-requests/{id}/vote', { params: { path } }))
      await refresh('wishes')
    })
  const closed = wish.status === 'fulfilled' || wish.status === 'declined'
  return (
    <>
      {failure && <Problem failure={failure} />}
      {closed && !wish.voted ? (
        <span class="soft">{count(wish.votes)} votes</span>
      ) : (
        <button type="button" aria-pressed={wish.voted} aria-busy={busy} onClick={vote}>
          <span aria-hidden="true">{wish.voted ? '✓' : '▲'}</span> {count(wish.votes)}
          <span class="unseen"> votes for {wish.title}</span>
        </button>
      )}
    </>
  )
}

export default function Wishlist() {
  const [sort, setSort] = useState<'votes' | 'newest'>('votes')
  const [creating, setCreating] = useState(false)
  const wishes = usePages<Wish>(`wishes ${sort}`, (cursor) =>
    take(api.GET('/console/agent-requests', { params: { query: { sort, ...(cursor && { cursor }) } } })),
  )
  return (
    <Screen
      title="Wishlist"
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          Wish for an agent
        </button>
      }
    >
      {creating && <NewWish onClose={() => setCreating(false)} />}
      <p class="soft">Agents that somebody would like to have. Developers read this list.</p>
      <div class="filters">
        <Field label="Order">
          {(field) => (
            <select {...field} value={sort} onChange={(event) => setSort(event.currentTarget.value as typeof sort)}>
              <option value="votes">Most wanted first</option>
              <option value="newest">Newest first</option>
            </select>
          )}
        </Field>
      </div>
      <Shown known={wishes} rows={4}>
        {({ items }) =>
          items.length === 0 && !wishes.more ? (
            <Empty title="Nobody has wished for anything yet." />
          ) : (
            items.map((wish) => (
              <article key={wish.id} class="card">
                <div class="row plain top-aligned">
                  <span class="grow">
                    <strong>
                      <Name>{wish.title}</Name>
                    </strong>
                    {wish.mine && <span class="soft">Your wish</span>}
                    {wish.description && <Prose text={wish.description} />}
                    {wish.status_reason && (
                      <span class="soft">
                        <Name>{wish.status_reason}</Name>
                      </span>
                    )}
                  </span>
                  {wish.status !== 'open' && (
                    <State name={STATES[wish.status][0]} label={STATES[wish.status][1] ?? words(wish.status)} />
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
