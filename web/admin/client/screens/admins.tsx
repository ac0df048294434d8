import { refresh } from '../../../ui/data.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Listing } from '../ui/listing.tsx'
import { Create, Edit } from './admins/account.tsx'
import { KeysOf } from './admins/keys.tsx'
import { SessionsOf } from './admins/sessions.tsx'

export default function Admins() {
  return (
    <Screen title="Staff accounts" actions={<Create />}>
      <Listing
        name="admins"
        none="No accounts"
        read={(at) => unwrap(api.GET('/admin/admins', { params: { query: at } }))}
      >
        {(admin) => (
          <article class="entry-body">
            <p>
              <strong>
                <Name>{admin.name}</Name>
              </strong>{' '}
              <span class="state">{admin.role}</span> {admin.id === identity.value?.id && <span class="soft">you</span>}
            </p>
            <p class="soft">
              <Name>{admin.email}</Name> · added <When at={admin.created_at} />
            </p>
            <div class="actions">
              <Edit admin={admin} />
              <KeysOf admin={admin} />
              <SessionsOf admin={admin} />
              <Decide
                label="Remove"
                about={admin.name}
                title={`Remove ${admin.name}?`}
                tone="danger"
                typed={admin.email}
                done="Account removed."
                act={async () => {
                  await unwrap(api.DELETE('/admin/admins/{id}', { params: { path: { id: admin.id } } }))
                  await refresh('admins')
                }}
              >
                <p>They lose access with their next request. Anything that uses their API keys stops working, too.</p>
              </Decide>
            </div>
          </article>
        )}
      </Listing>
    </Screen>
  )
}
