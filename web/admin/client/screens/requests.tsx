import { useState } from 'preact/hooks'
import { clean } from '../../../session/text.ts'
import { refresh } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { count, words } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, take } from '../api.ts'
import { Choice, Filters, filters } from '../ui/filters.tsx'
import { Listing } from '../ui/listing.tsx'

type Wish = Schemas['ModeratedAgentRequest']

const STATUSES = ['open', 'claimed', 'fulfilled', 'declined'] as const

const SetStatus = ({ wish }: { wish: Wish }) => {
  const [open, setOpen] = useState(false)
  const [status, setStatus] = useState(wish.status)
  const [reason, setReason] = useState('')
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Set status<span class="unseen"> of {clean(wish.title)}</span>
      </button>
      {open && (
        <Modal title={wish.title} onClose={() => setOpen(false)}>
          <Form
            verb="Save"
            done={() => setOpen(false)}
            send={async () => {
              await take(
                api.POST('/admin/agent-requests/{id}/status', {
                  params: { path: { id: wish.id } },
                  body: { status, ...(reason.trim() && { reason: reason.trim() }) },
                }),
              )
              await refresh('requests')
            }}
          >
            <Field label="Status" hint="“Open” takes it from the developer who claimed it.">
              {(field) => (
                <select
                  {...field}
                  value={status}
                  onChange={({ currentTarget }) => setStatus(currentTarget.value as Wish['status'])}
                >
                  {STATUSES.map((one) => (
                    <option key={one} value={one}>
                      {words(one)}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <TextField
              label="Reason (optional)"
              hint="Shown with the request."
              rows={3}
              maxLength={2_000}
              value={reason}
              onText={setReason}
            />
          </Form>
        </Modal>
      )}
    </>
  )
}

export default function Requests() {
  const query = filters('status', 'sort') as { status?: Wish['status']; sort?: 'newest' | 'votes' }
  return (
    <Screen title="Requests">
      <p class="soft">The agents that customers ask for.</p>
      <Filters>
        <Choice name="status" label="Status" options={STATUSES} />
        <Choice name="sort" label="Order" options={['votes']} all="Newest first" />
      </Filters>
      <Listing
        name={`requests ${JSON.stringify(query)}`}
        none="There is no such request."
        read={(at) => take(api.GET('/admin/requests', { params: { query: { ...query, ...at } } }))}
      >
        {(wish) => (
          <article class="entry-body">
            <p>
              <strong>
                <Name>{wish.title}</Name>
              </strong>{' '}
              <State name={wish.status} />{' '}
              <span class="soft">
                {count(wish.votes)} {wish.votes === 1 ? 'vote' : 'votes'} · <When at={wish.created_at} />
                {wish.claimed_by && (
                  <>
                    {' '}
                    · claimed by <Name>{wish.claimed_by.name}</Name>
                  </>
                )}
              </span>
            </p>
            {wish.description && <Prose text={wish.description} />}
            {wish.status_reason && (
              <div class="note">
                <Prose text={wish.status_reason} />
              </div>
            )}
            <div class="actions">
              <SetStatus wish={wish} />
            </div>
          </article>
        )}
      </Listing>
    </Screen>
  )
}
