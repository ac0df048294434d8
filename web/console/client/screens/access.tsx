import { usePages } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { isAdmin } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { GrantCard } from '../ui/grants.tsx'
import { ConnectedWebhooks } from '../ui/webhooks.tsx'

export default function Access() {
  const grants = usePages('installations grants', async (cursor) => {
    const page = await unwrap(api.GET('/console/grants', { params: { query: cursor ? { cursor } : {} } }))
    return { ...page, items: page.items.flatMap((grant) => (grant.kind === 'app' ? [grant] : [])) }
  })
  return (
    <Screen title={t('Connected apps')}>
      <p class="soft">
        {t('External services that can act in this workspace, who approved them, and what they can do.')}
      </p>
      <Shown known={grants} rows={2} tall>
        {({ items }) =>
          items.length === 0 && !grants.more ? (
            <Empty icon="key" title={t('No external apps have access.')} />
          ) : (
            items.map((grant) => <GrantCard key={grant.id} grant={grant} />)
          )
        }
      </Shown>
      <More more={grants.more} />
      {isAdmin.value && <ConnectedWebhooks />}
    </Screen>
  )
}
