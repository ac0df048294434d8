import { refresh } from '../../../ui/data.ts'
import { Screen } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import { api, take } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Listing } from '../ui/listing.tsx'
import { Create, Edit } from './admins/account.tsx'
import { KeysOf } from './admins/keys.tsx'

export default function Admins() {
  return (
    <Screen title="Staff" actions={<Create />}>
      <Listing
        name="admins"
        none="There is nobody."
        read={(at) => take(api.GET('/admin/admins', { params: { query: at } }))}
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
              <Decide
                label="Remove"
                about={admin.name}
                title={`Remove ${admin.name}?`}
                tone="danger"
                typed={admin.email}
                done="The account is removed."
                act={async () => {
                  await take(api.DELETE('/admin/admins/{id}', { params: { path: { id: admin.id } } }))
                  await refresh('admins')
                }}
              >
                <p>They are out at their next request, and so is whatever uses their keys.</p>
              </Decide>
            </div>
          </article>
        )}
      </Listing>
    </Screen>
  )
}
