import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Choice, Filters, filter } from '../../../ui/filters.tsx'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { may } from '../ui/roles.ts'

type Status = Schemas['AgentRequest']['status']

const OTHERS: Record<string, string> = { claimed: t('Claimed'), fulfilled: t('Fulfilled'), declined: t('Declined') }

export default function Requests() {
  const status = (filter('status') || 'open') as Status
  const list = usePages(`requests ${status}`, (cursor) =>
    unwrap(api.GET('/api/v1/dev/requests', { params: { query: { status, limit: 50, ...(cursor && { cursor }) } } })),
  )
  return (
    <Screen title={t('Agents that customers ask for')}>
      <Filters>
        <Choice name="status" label={t('Status')} all={t('Open')} options={OTHERS} />
      </Filters>
      <Shown known={list} rows={3} tall>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={status === 'open' ? t('No open requests') : t('None')} />
          ) : (
            items.map((request) => (
              <article class="card" key={request.id}>
                <div class="head">
                  <h2>
                    <Name>{request.title}</Name>
                  </h2>
                  {request.mine ? (
                    <span class="state act">{t('Yours')}</span>
                  ) : (
                    status !== 'open' && <State name={request.status} />
                  )}
                </div>
                <Prose text={request.description} />
                <p class="soft">
                  {t('{n, plural, one {# vote} other {# votes}}', { n: request.votes })},{' '}
                  <When at={request.created_at} />
                </p>
                {request.status === 'open' && may('POST /api/v1/dev/requests/{id}/claim') && (
                  <div class="actions">
                    <Confirm
                      safe
                      label={t('I’ll build it')}
                      title={t('Claim this request?')}
                      verb={t('Claim')}
                      act={async () => {
                        await unwrap(
                          api.POST('/api/v1/dev/requests/{id}/claim', { params: { path: { id: request.id } } }),
                        )
                        announce(t('The request is yours.'))
                        await refresh('requests')
                      }}
                    >
                      <p>{t('The workspace that asked is notified. Other developers can’t claim it any more.')}</p>
                    </Confirm>
                  </div>
                )}
              </article>
            ))
          )
        }
      </Shown>
      <More more={list.more} />
    </Screen>
  )
}
