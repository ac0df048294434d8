import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useData } from '../../../ui/data.ts'
import { Field, Form } from '../../../ui/form.tsx'
import { fullTime } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { navigate } from '../../../ui/router.ts'
import { Shown } from '../../../ui/screen.tsx'
import { type SandboxSchemas, sandboxOf } from '../sandbox.ts'
import type { App } from './app-screen.tsx'
import { refusalOf } from './roles.ts'

type Schedule = SandboxSchemas['Schedule']

/** Lets a developer try the schedules of the sandbox that events start, with events that happened there. Nothing if there are none. */
export const EventSchedules = ({ app }: { app: App }) => {
  const { client, take } = sandboxOf(app.id)
  const { data } = useData(`app ${app.id} schedules`, () =>
    take(client.GET('/api/v1/schedules', { params: { query: { limit: 100 } } })),
  )
  const schedules = (data?.items ?? []).filter(({ when }) => when.event !== undefined)
  const [chosen, choose] = useState('')
  const schedule = schedules.find(({ id }) => id === chosen) ?? schedules[0]
  if (!schedule || refusalOf('POST /api/v1/schedules/{id}/run')) return null
  return (
    <section class="section">
      <h2>{t('Try an event')}</h2>
      <p class="soft">{t('Starts a schedule of the sandbox as if an event that happened there had started it.')}</p>
      <Field label={t('Schedule')}>
        {(field) => (
          <select {...field} value={schedule.id} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {schedules.map(({ id, name }) => (
              <option key={id} value={id}>
                {sanitize(name)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Recorded key={schedule.id} app={app} schedule={schedule} />
    </section>
  )
}

/** Offers the recorded events that the schedule's mask names, newest first. */
const Recorded = ({ app, schedule: { id, when } }: { app: App; schedule: Schedule }) => {
  const { client, take } = sandboxOf(app.id)
  const known = useData(`app ${app.id} events ${when.event}`, () =>
    take(client.GET('/api/v1/events', { params: { query: { types: when.event ?? '', limit: 100 } } })),
  )
  const [chosen, choose] = useState('')
  return (
    <Shown known={known} rows={1}>
      {({ items }) => {
        const events = [...items].reverse()
        const event = chosen || events[0]?.id
        const send = async (): Promise<void> => {
          const params = { path: { id } }
          const run = await take(client.POST('/api/v1/schedules/{id}/run', { params, body: { event_id: event ?? '' } }))
          navigate(`/apps/${app.id}/runs/${run.id}`)
        }
        return event === undefined ? (
          <p class="hint">{t('No event of this kind has happened in the sandbox yet.')}</p>
        ) : (
          <Form verb={t('Start run')} send={send}>
            <Field label={t('Event')}>
              {(field) => (
                <select {...field} value={event} onChange={({ currentTarget }) => choose(currentTarget.value)}>
                  {events.map((one) => (
                    <option key={one.id} value={one.id}>
                      {`${sanitize(one.type)} · ${fullTime(one.created_at)}`}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </Form>
        )
      }}
    </Shown>
  )
}
