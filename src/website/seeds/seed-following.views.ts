import type { Seed } from '../../areas/seeds/seeds.service.ts'
import { renderAction } from '../components/forms.ts'
import type { Html } from '../components/html.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'

/** The button that follows a seed, or no longer. */
export function renderFollowing({ base, request }: WorkspaceVisit, { id, following }: Seed): Html {
  return renderAction(request, {
    action: `${base}/seeds/${id}/${following ? 'unfollow' : 'follow'}`,
    label: following ? 'Unfollow' : 'Follow',
    description: 'the seed',
  })
}
