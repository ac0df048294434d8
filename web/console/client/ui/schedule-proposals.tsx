import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Json, Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { readerZone } from './schedule-times.ts'
import { type When, whenWords } from './schedule-words.ts'

type Proposed = Schemas['ProposedSchedule']

/** Returns when a proposal would fall due. An expression without a zone means the reader's. */
const whenHere = ({ when }: Proposed): When =>
  when.cron === undefined ? when : { ...when, time_zone: when.time_zone ?? readerZone() }

const Words = ({ one }: { one: Proposed }) => (
  <span class="grow">
    <strong>
      <Name>{one.name}</Name>
    </strong>
    <span class="soft">
      <Name>{whenWords(whenHere(one))}</Name>
    </span>
  </span>
)

/** Schedules that an agent would propose, before it is installed. */
export const ProposedSchedules = ({ schedules }: { schedules: readonly Proposed[] }) =>
  schedules.length === 0 ? null : (
    <section class="section" aria-labelledby="proposed">
      <h2 id="proposed">{t('Suggested schedules')}</h2>
      <p class="hint">{t('They are off until you turn them on.')}</p>
      <ul class="rows">
        {schedules.map((one) => (
          <li key={one.key}>
            <div class="row">
              <Words one={one} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )

const TurnOn = ({ one, installationId }: { one: Proposed; installationId: string }) => (
  <Confirm
    safe
    label={t('Turn on')}
    title={t('Turn on “{name}”?', { name: one.name })}
    verb={t('Turn on')}
    act={async () => {
      const { key, name, start } = one
      const body = {
        installation_id: installationId,
        name,
        start,
        when: whenHere(one),
        overlap: 'skip',
        missed: 'latest',
        proposal: key,
      } as const
      const made = await unwrap(api.POST('/console/schedules', { body }))
      announce(t('Schedule created.'), { to: `/schedules/${made.id}`, label: t('Open') })
      await refresh('schedules')
    }}
  >
    <p>
      {rich(
        '{when}, it starts this agent in your name, without asking, until you pause it. Its costs count against the budgets.',
        {
          when: <strong>{whenWords(whenHere(one))}</strong>,
        },
      )}
    </p>
    <Json value={one.start} label={t('What it starts')} />
  </Confirm>
)

/** Schedules that an installed agent proposes. Those that are on lead to their pages. */
export const ScheduleProposals = ({ installationId }: { installationId: string }) => {
  const proposals = useData(`schedules proposals ${installationId}`, () =>
    unwrap(api.GET('/console/schedules/proposals', { params: { query: { installation_id: installationId } } })),
  )
  const items = proposals.data?.items ?? []
  if (items.length === 0) return null
  return (
    <section class="section card" aria-labelledby="proposals">
      <h2 id="proposals">{t('Suggested schedules')}</h2>
      <p class="hint">{t('They are off until you turn them on.')}</p>
      <ul class="rows">
        {items.map((one) => (
          <li key={one.key}>
            <div class="row folds">
              <Words one={one} />
              {one.schedule_id === null ? (
                <TurnOn one={one} installationId={installationId} />
              ) : (
                <a class="button" href={`#/schedules/${one.schedule_id}`}>
                  {t('Open schedule')}
                </a>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
