import { usePages } from '../../../ui/data.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { api, take } from '../api.ts'
import { GrantCard } from '../ui/grants.tsx'

export default function Access() {
  const grants = usePages('installations grants', (cursor) =>
    take(api.GET('/console/grants', { params: { query: cursor ? { cursor } : {} } })),
  )
  return (
    <Screen title="Connected apps">
      <p class="soft">Services outside that act in this workspace, by whose word, and with what rights.</p>
      <Shown known={grants} rows={2} tall>
        {({ items }) =>
          items.length === 0 && !grants.more ? (
            <Empty title="No app has access from outside." />
          ) : (
            items.map((grant) => <GrantCard key={grant.id} grant={grant} />)
          )
        }
      </Shown>
      <More more={grants.more} />
    </Screen>
  )
}
