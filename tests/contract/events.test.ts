import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import {
  eventKinds,
  grantEventTypes,
  managerEventTypes,
  kindOf,
  sentenceOf,
  withoutPerson,
  type EventType,
} from '../../src/domain/events.ts'

const types = Object.keys(eventKinds) as EventType[]
const ajv = new Ajv({ allowUnionTypes: true })

describe('the types of events', () => {
  it('have examples of their data, and descriptions of all fields', () => {
    for (const type of types) {
      const { data, example, target } = kindOf(type)
      expect(ajv.validate(data, example), `${type}: ${ajv.errorsText()}`).toBe(true)
      expect(data.properties, type).toHaveProperty(target[1])
      for (const [name, { description }] of Object.entries(data.properties))
        expect(description, `${type}: ${name}`).toMatch(/\.$/)
    }
  })

  it('are restricted in the order of the indexes', () => {
    const readBy = (readers: string) => types.filter((type) => kindOf(type).readers === readers)
    expect(readBy('managers').sort()).toEqual([...managerEventTypes].sort())
    expect(readBy('grantors').sort()).toEqual([...grantEventTypes].sort())
  })

  it('begin their summaries with the actor, and name them nowhere else', () => {
    for (const type of types) {
      const { example, summarize } = kindOf(type)
      expect(summarize(example, 'ACTOR').split('ACTOR'), type).toEqual(['', expect.stringMatching(/^,? \S/)])
    }
  })
})

describe('sentenceOf', () => {
  const eventOf = (type: EventType, data: Record<string, unknown>) => ({
    ...{ type, data, actorUserId: 'actor', actorName: 'ACTOR', summary: 'stored' },
  })
  const toText = (sentence: ReturnType<typeof sentenceOf>) =>
    sentence.map((part) => (typeof part === 'string' ? part : part.name)).join('')

  it('reads as the summary, for each type, and names what the event is about', () => {
    for (const type of types) {
      const { example, summarize, target } = kindOf(type)
      const sentence = sentenceOf(eventOf(type, example))
      expect(toText(sentence), type).toBe(summarize(example, 'ACTOR'))
      const isOfWorkspace = ['workspace', 'invite'].includes(target[0])
      const named = sentence.flatMap((part) => (typeof part === 'string' ? [] : [part.id]))
      const aboutId =
        target[0] === 'evidence' || target[0] === 'comment' ? example.seedId : example[target[1]]
      const isActor = ['member.joined', 'member.left', 'member.updated'].includes(type)
      const isNameless = ['person.erased', 'api_key.stopped'].includes(type)
      if (!isOfWorkspace && !isActor && !isNameless) expect(named, type).toContain(aboutId)
    }
  })

  it('does without what an older version did not write, and is the stored sentence if too much is missing', () => {
    const data = { seedId: 'one', title: 'B', fields: ['title'] }
    expect(toText(sentenceOf(eventOf('seed.updated', data)))).toBe('ACTOR changed the title of the seed B')
    expect(sentenceOf(eventOf('seed.updated', {}))).toEqual(['stored'])
  })
})

describe('withoutPerson', () => {
  const person = { userId: 'one', emails: ['Ann@example.com', 'ann@old.example'] }

  it('replaces names that are beside the id of the person, and their addresses', () => {
    const erase = (data: Record<string, unknown>) => withoutPerson(data, person, 'X')
    expect(erase({ userId: 'one', name: 'Ann', title: 'Ann' })).toEqual({
      userId: 'one',
      name: 'X',
      title: 'Ann',
    })
    expect(erase({ invitedByUserId: 'one', invitedByName: 'Ann', userId: 'two', name: 'Ann' })).toEqual({
      invitedByUserId: 'one',
      invitedByName: 'X',
      userId: 'two',
      name: 'Ann',
    })
    expect(
      erase({ leadUserId: 'two', leadName: 'Ann', leadUserIdBefore: 'one', leadNameBefore: 'Ann' }),
    ).toEqual({ leadUserId: 'two', leadName: 'Ann', leadUserIdBefore: 'one', leadNameBefore: 'X' })
    expect(erase({ email: 'ann@EXAMPLE.com', to: 'admin' })).toEqual({ email: 'X', to: 'admin' })
  })

  it('returns nothing for data that does not name the person', () => {
    for (const data of [{}, { userId: 'two', name: 'Ann' }, { email: 'ben@example.com' }, { userId: 'one' }])
      expect(withoutPerson(data, person, 'X')).toBeUndefined()
  })
})
