import React from 'react';

export default function Root({ children }) {
  return (
    <>
      {children}
      <turnwise-agent></turnwise-agent>
    </>
  );
}
