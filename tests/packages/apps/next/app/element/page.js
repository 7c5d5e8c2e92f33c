'use client';
import 'turnwise/element';

export default function Page() {
  return <main><h1>The tag</h1><turnwise-agent provider="demo" docs="off"></turnwise-agent></main>;
}
