import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { refresh } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { Choice, Filters, filters } from '../../../ui/filters.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { count, humanize } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
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
        Set status<span class="unseen"> of {sanitize(wish.title)}</span>
      </button>
      {open && (
        <Modal title={wish.title} onClose={() => setOpen(false)}>
          <Form
            verb="Save"
            done={() => setOpen(false)}
            send={async () => {
              await unwrap(
                api.POST('/admin/agent-requests/{id}/status', {
                  params: { path: { id: wish.id } },
                  body: { status, ...(reason.trim() && { reason: reason.trim() }) },
                }),
              )
              await refresh('requests')
            }}
          >
            <Field label="Status" hint="Choosing “Open” releases it from the developer who claimed it.">
              {(field) => (
                <select
                  {...field}
                  value={status}
                  onChange={({ currentTarget }) => setStatus(currentTarget.value as Wish['status'])}
                >
                  {STATUSES.map((one) => (
                    <option key={one} value={one}>
                      {humanize(one)}
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
    <Screen title="Agent requests">
      <p class="soft">Agents that customers have requested.</p>
      <Filters>
        <Choice name="status" label="Status" options={STATUSES} />
        <Choice name="sort" label="Sort by" options={['votes']} all="Newest" />
      </Filters>
      <Listing
        name={`requests ${JSON.stringify(query)}`}
        none="No matching requests"
        read={(at) => unwrap(api.GET('/admin/requests', { params: { query: { ...query, ...at } } }))}
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
