import { Choice, Filters, filters, Search } from '../../../ui/filters.tsx'
import { humanize } from '../../../ui/format.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Logo, Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { Listing } from '../ui/listing.tsx'

type App = Schemas['ModeratedApp']

const STATUSES = ['draft', 'in_review', 'approved', 'rejected', 'suspended', 'delisted'] as const

export default function Apps() {
  const query = filters('status', 'type', 'developer', 'q') as {
    status?: App['status']
    type?: App['type']
    developer?: string
    q?: string
  }
  return (
    <Screen title="Apps">
      <Filters>
        <Search name="q" label="Slug or ID" hint="Slug starts with…" />
        <Choice name="status" label="Status" options={STATUSES} />
        <Choice name="type" label="Type" options={['agent', 'integration']} />
        <Search name="developer" label="Developer" hint="dev_…" />
      </Filters>
      <Listing
        name={`apps ${JSON.stringify(query)}`}
        none="No matching apps"
        read={(at) => unwrap(api.GET('/admin/apps', { params: { query: { ...query, ...at } } }))}
      >
        {(app) => (
          <a class="row" href={`#/apps/${app.id}`}>
            <Logo name={app.name} path={app.logo_path} />
            <span class="grow">
              <strong>
                <Name>{app.name}</Name>
              </strong>
              <span class="soft">
                {app.slug} · {humanize(app.type)} · <When at={app.created_at} />
              </span>
            </span>
            <State name={app.status} />
          </a>
        )}
      </Listing>
    </Screen>
  )
}
